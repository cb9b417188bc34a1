//! The query mixes: templates of the Explore and Business Intelligence use cases, filled from the pools.
//!
//! The texts lie in `queries/`, one file per template, with `%name%` where a parameter goes.
//! Explore query 6 is absent: version 3.1 of the benchmark took it out.

use super::{ParameterPools, Random};

/// Parameter names and values.
type Parameters = Vec<(&'static str, String)>;

/// A query with places for parameters.
struct Template {
    number: u32,
    name: &'static str,
    text: &'static str,
    parameters: fn(&ParameterPools, &mut Random) -> Parameters,
}

impl Template {
    fn fill(&self, pools: &ParameterPools, random: &mut Random) -> (&'static str, String) {
        let mut text = self.text.to_owned();
        for (name, value) in (self.parameters)(pools, random) {
            text = text.replace(&format!("%{name}%"), &value);
        }
        (self.name, text)
    }
}

macro_rules! template {
    ($number:literal, $name:literal, $file:literal, $parameters:expr) => {
        Template { number: $number, name: $name, text: include_str!($file), parameters: $parameters }
    };
}

const EXPLORE: [Template; 11] = [
    template!(1, "explore-1", "queries/explore/01.rq", |p, r| typed(p, r, 2, &["x"])),
    template!(2, "explore-2", "queries/explore/02.rq", product),
    template!(3, "explore-3", "queries/explore/03.rq", |p, r| typed(p, r, 2, &["x", "y"])),
    template!(4, "explore-4", "queries/explore/04.rq", |p, r| typed(p, r, 3, &["x", "y"])),
    template!(5, "explore-5", "queries/explore/05.rq", product),
    template!(7, "explore-7", "queries/explore/07.rq", product_today),
    template!(8, "explore-8", "queries/explore/08.rq", product),
    template!(9, "explore-9", "queries/explore/09.rq", |p, r| vec![("Review", p.random_review(r))]),
    template!(10, "explore-10", "queries/explore/10.rq", product_today),
    template!(11, "explore-11", "queries/explore/11.rq", offer),
    template!(12, "explore-12", "queries/explore/12.rq", offer),
];

const BI: [Template; 8] = [
    template!(1, "bi-1", "queries/bi/1.rq", |p, r| vec![
        ("Country1", p.random_country(r)),
        ("Country2", p.random_country(r)),
    ]),
    template!(2, "bi-2", "queries/bi/2.rq", product),
    template!(3, "bi-3", "queries/bi/3.rq", months),
    template!(4, "bi-4", "queries/bi/4.rq", |p, r| product_type_below(p, r, 1)),
    template!(5, "bi-5", "queries/bi/5.rq", |p, r| product_type_below(p, r, 1)),
    template!(6, "bi-6", "queries/bi/6.rq", |p, r| vec![("Producer", p.random_producer(r))]),
    template!(7, "bi-7", "queries/bi/7.rq", |p, r| {
        let mut parameters = product_type_below(p, r, 0);
        parameters.push(("Country", p.random_country(r)));
        parameters
    }),
    template!(8, "bi-8", "queries/bi/8.rq", |p, r| product_type_below(p, r, 0)),
];

/// The published order of the Explore mix.
const EXPLORE_MIX: [u32; 25] =
    [1, 2, 2, 3, 2, 2, 4, 2, 2, 5, 7, 7, 5, 7, 7, 8, 9, 9, 8, 9, 9, 10, 10, 11, 12];

/// The published order of the Business Intelligence mix.
const BI_MIX: [u32; 15] = [1, 3, 2, 2, 4, 5, 5, 6, 5, 6, 6, 7, 8, 7, 6];

fn product(pools: &ParameterPools, random: &mut Random) -> Parameters {
    vec![("Product", pools.random_product(random))]
}

fn product_today(pools: &ParameterPools, random: &mut Random) -> Parameters {
    vec![("Product", pools.random_product(random)), ("CurrentDate", pools.current_date())]
}

fn offer(pools: &ParameterPools, random: &mut Random) -> Parameters {
    vec![("Offer", pools.random_offer(random))]
}

fn months(pools: &ParameterPools, random: &mut Random) -> Parameters {
    let [first, second, third] = pools.random_consecutive_months(random);
    vec![("Month0", first), ("Month1", second), ("Month2", third)]
}

fn product_type_below(pools: &ParameterPools, random: &mut Random, level: usize) -> Parameters {
    vec![("ProductType", pools.random_product_type_below(level, random))]
}

/// A leaf type, distinct features of it, and bounds for numeric properties.
fn typed(
    pools: &ParameterPools,
    random: &mut Random,
    features: usize,
    bounds: &[&'static str],
) -> Parameters {
    let mut product_type = pools.random_product_type(random);
    let mut parameters = vec![("ProductType", product_type.iri)];
    for name in ["Feature1", "Feature2", "Feature3"].into_iter().take(features) {
        let index = random.below(product_type.features.len() as u64) as usize;
        parameters.push((name, product_type.features.swap_remove(index)));
    }
    for &name in bounds {
        parameters.push((name, pools.random_property_bound(random).to_string()));
    }
    parameters
}

fn instantiate(
    templates: &[Template],
    order: &[u32],
    pools: &ParameterPools,
    random: &mut Random,
) -> Vec<(&'static str, String)> {
    let template = |number: &u32| templates.iter().find(|template| template.number == *number);
    order.iter().filter_map(template).map(|template| template.fill(pools, random)).collect()
}

/// Each Explore query once, with fresh parameters: name and SPARQL text.
pub fn explore_queries(pools: &ParameterPools, random: &mut Random) -> Vec<(&'static str, String)> {
    EXPLORE.iter().map(|template| template.fill(pools, random)).collect()
}

/// Each Business Intelligence query once, with fresh parameters: name and SPARQL text.
pub fn bi_queries(pools: &ParameterPools, random: &mut Random) -> Vec<(&'static str, String)> {
    BI.iter().map(|template| template.fill(pools, random)).collect()
}

/// One whole Explore mix: 25 queries in the published order, each with parameters of its own.
pub fn explore_mix(pools: &ParameterPools, random: &mut Random) -> Vec<(&'static str, String)> {
    instantiate(&EXPLORE, &EXPLORE_MIX, pools, random)
}

/// One whole Business Intelligence mix: 15 queries in the published order, each with parameters of its own.
pub fn bi_mix(pools: &ParameterPools, random: &mut Random) -> Vec<(&'static str, String)> {
    instantiate(&BI, &BI_MIX, pools, random)
}
