//! The outline of a data set: who owns what, how many there are, the type hierarchy and its features.
//!
//! Computable from the number of products and the seed alone, in time proportional to the number of
//! producers. The generator fills in the values; [`super::ParameterPools`] needs no more than this.

use std::ops::{Range, RangeInclusive};

use super::random::{Random, Stream};

pub(super) const OFFERS_PER_PRODUCT: u64 = 20;
pub(super) const REVIEWS_PER_PRODUCT: u64 = 10;
const PRODUCTS_PER_PRODUCER: u64 = 50;
const OFFERS_PER_VENDOR: u64 = 2000;
const REVIEWS_PER_RATING_SITE: u64 = 10_000;
const REVIEWS_PER_REVIEWER: u64 = 20;

/// The outline of one data set.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) products: u64,
    pub(super) seed: u64,
    pub(super) types: TypeTree,
    /// Products by producer.
    pub(super) producers: Partition,
    /// Offers by vendor.
    pub(super) vendors: Partition,
    /// Reviews by rating site.
    pub(super) rating_sites: Partition,
}

impl Catalogue {
    pub(super) fn new(products: u64, seed: u64) -> Self {
        let offers = products * OFFERS_PER_PRODUCT;
        let reviews = products * REVIEWS_PER_PRODUCT;
        let partition = |items, stream, mean| Partition::new(items, seed, stream, mean);
        Self {
            products,
            seed,
            types: TypeTree::new(products, seed),
            producers: partition(products, Stream::ProducerSize, PRODUCTS_PER_PRODUCER),
            vendors: partition(offers, Stream::VendorSize, OFFERS_PER_VENDOR),
            rating_sites: partition(reviews, Stream::RatingSiteSize, REVIEWS_PER_RATING_SITE),
        }
    }

    pub(super) fn offers(&self) -> u64 {
        self.products * OFFERS_PER_PRODUCT
    }

    pub(super) fn reviews(&self) -> u64 {
        self.products * REVIEWS_PER_PRODUCT
    }

    /// The random stream of one resource.
    pub(super) fn random(&self, stream: Stream, number: u64) -> Random {
        Random::stream(self.seed, stream, number)
    }

    /// How many reviews a reviewer wants to write; the rating site's total cuts the last one short. May be 0.
    pub(super) fn reviews_of_reviewer(&self, number: u64) -> u64 {
        self.random(Stream::ReviewerSize, number).group_size(REVIEWS_PER_REVIEWER)
    }
}

/// Items numbered from 1, shared out to owners numbered from 1 in runs of normally distributed length.
#[derive(Debug)]
pub(super) struct Partition {
    /// The last item of each owner.
    ends: Vec<u64>,
}

impl Partition {
    fn new(items: u64, seed: u64, stream: Stream, mean: u64) -> Self {
        let mut ends = Vec::new();
        let mut last = 0;
        while last < items {
            let owner = ends.len() as u64 + 1;
            let size = Random::stream(seed, stream, owner).group_size(mean) + 1;
            last = items.min(last + size);
            ends.push(last);
        }
        Self { ends }
    }

    /// The number of owners.
    pub(super) fn owners(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The owner of an item.
    pub(super) fn owner_of(&self, item: u64) -> u64 {
        self.ends.partition_point(|&end| end < item) as u64 + 1
    }

    /// The items of an owner; empty if there is no such owner.
    pub(super) fn items_of(&self, owner: u64) -> RangeInclusive<u64> {
        let end = |owner: u64| self.ends.get(owner as usize - 1).copied();
        let first = if owner > 1 { end(owner - 1).map_or(u64::MAX, |end| end + 1) } else { 1 };
        first..=end(owner).unwrap_or(0)
    }
}

/// A product type.
#[derive(Debug, Clone)]
pub(super) struct TypeNode {
    /// The number of the parent; none for the root.
    pub(super) parent: Option<u64>,
    depth: usize,
    /// The features that belong to this type (its products may also have those of its ancestors).
    pub(super) features: Range<u64>,
}

/// The hierarchy of product types. Numbered from 1, level by level.
#[derive(Debug)]
pub(super) struct TypeTree {
    nodes: Vec<TypeNode>,
    /// The highest number of each level.
    level_ends: Vec<u64>,
}

impl TypeTree {
    fn new(products: u64, seed: u64) -> Self {
        let branching = branching_factors(products.max(10));
        let root = TypeNode { parent: None, depth: 0, features: 0..0 };
        let mut tree = Self { nodes: vec![root], level_ends: vec![1] };
        let mut parents = 1..=1;
        for (level, &branches) in branching.iter().enumerate() {
            for parent in parents.clone() {
                let child = TypeNode { parent: Some(parent), depth: level + 1, features: 0..0 };
                tree.nodes.extend(std::iter::repeat_n(child, branches));
            }
            parents = parents.end() + 1..=tree.count();
            tree.level_ends.push(tree.count());
        }
        tree.share_out_features(branching.len(), seed);
        tree
    }

    /// Gives every type but the root its features: more on deeper levels, numbered in the order of the types.
    fn share_out_features(&mut self, levels: usize, seed: u64) {
        let levels = levels as u64;
        let weights = levels * (levels + 1) / 2 - 1;
        let mut next = 1;
        for (index, node) in self.nodes.iter_mut().enumerate().skip(1) {
            let weight = levels.min(node.depth as u64 + 1);
            let mut random = Random::stream(seed, Stream::FeatureCount, index as u64 + 1);
            let count = random.between(35 * weight / weights, 75 * weight / weights);
            node.features = next..next + count;
            next += count;
        }
    }

    /// The number of types.
    pub(super) fn count(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// The number of features of all types.
    pub(super) fn feature_count(&self) -> u64 {
        self.nodes.last().map_or(0, |node| node.features.end.saturating_sub(1))
    }

    /// The types, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &TypeNode)> {
        (1..).zip(&self.nodes)
    }

    /// The numbers of the leaves.
    pub(super) fn leaves(&self) -> RangeInclusive<u64> {
        self.level(self.level_ends.len() - 1)
    }

    /// The number of levels below the root, plus one for the root.
    pub(super) fn levels(&self) -> usize {
        self.level_ends.len()
    }

    /// The numbers of the types on a level; the root is level 0.
    pub(super) fn level(&self, level: usize) -> RangeInclusive<u64> {
        let first = if level == 0 { 1 } else { self.level_ends[level - 1] + 1 };
        first..=self.level_ends[level]
    }

    /// A type and its ancestors, the root last.
    pub(super) fn lineage(&self, number: u64) -> impl Iterator<Item = (u64, &TypeNode)> {
        let node = move |number: u64| self.nodes.get(number as usize - 1).map(|node| (number, node));
        std::iter::successors(node(number), move |(_, at)| at.parent.and_then(node))
    }
}

/// How many children the types of each level have. The published rule rounds logarithms of the number of products;
/// here the same comparisons are made on powers.
fn branching_factors(products: u64) -> Vec<usize> {
    let n = u128::from(products);
    let levels = half_log10(n) + 1;
    let mut factors = vec![8; levels];
    factors[levels - 1] = [2, 4, 8][(half_log10(n * n * n) + 1) % 3];
    factors[0] = 2 * half_log10(n * n);
    factors
}

/// `log10(n) / 2`, rounded half up: the number of odd powers of ten up to `n`.
fn half_log10(n: u128) -> usize {
    (0..).take_while(|k| 10_u128.checked_pow(2 * k + 1).is_some_and(|power| power <= n)).count()
}
