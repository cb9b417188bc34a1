//! Sets of texts, by their numbers: lists of few, bits for many, so that no set takes more than a bit for each text that there is.

/// So many times fewer than all is few: a list of them takes less than the bits.
const FEW: u64 = 64;

/// A set of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSet {
    texts: u64,
    len: u64,
    members: Members,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Members {
    /// Ascending.
    Few(Vec<u64>),
    /// A bit for each text.
    Many(Vec<u64>),
}

impl TextSet {
    /// None of so many texts.
    pub fn none(texts: u64) -> Self {
        Self { texts, len: 0, members: Members::Few(Vec::new()) }
    }

    fn few(texts: u64, members: Vec<u64>) -> Self {
        Self { texts, len: members.len() as u64, members: Members::Few(members) }
    }

    fn bits(texts: u64, members: Vec<u64>) -> Self {
        let len = members.iter().map(|word| u64::from(word.count_ones())).sum();
        let many = Self { texts, len, members: Members::Many(members) };
        // Lists are faster to go over.
        if len < texts / FEW { Self::few(texts, many.iter().collect()) } else { many }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let (Members::Few(members) | Members::Many(members)) = &self.members;
        size_of_val(members.as_slice())
    }

    /// Their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (few, many): (&[u64], &[u64]) = match &self.members {
            Members::Few(few) => (few, &[]),
            Members::Many(many) => (&[], many),
        };
        let of_word = |(at, word): (usize, &u64)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| u64::from(rest.trailing_zeros()));
                rest &= rest.wrapping_sub(1);
                bit.map(|bit| at as u64 * 64 + bit)
            })
        };
        few.iter().copied().chain(many.iter().enumerate().flat_map(of_word))
    }

    /// Whether a text is in it.
    pub fn has(&self, text: u64) -> bool {
        match &self.members {
            Members::Few(few) => few.binary_search(&text).is_ok(),
            Members::Many(many) => is_set(many, text),
        }
    }

    /// Texts of both.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        match (self.members, &other.members) {
            (Members::Few(few), Members::Few(others)) => Self::few(self.texts, both(&few, others)),
            (Members::Few(mut few), Members::Many(many)) => {
                few.retain(|text| is_set(many, *text));
                Self::few(self.texts, few)
            }
            (Members::Many(many), Members::Few(few)) => {
                let kept = few.iter().copied().filter(|text| is_set(&many, *text));
                Self::few(self.texts, kept.collect())
            }
            (Members::Many(mut many), Members::Many(others)) => {
                many.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
                Self::bits(self.texts, many)
            }
        }
    }

    /// Those that are not in the other.
    #[must_use]
    pub fn without(self, other: &Self) -> Self {
        match (self.members, &other.members) {
            (Members::Few(mut few), _) => {
                few.retain(|text| !other.has(*text));
                Self::few(self.texts, few)
            }
            (Members::Many(mut many), Members::Few(others)) => {
                for text in others {
                    if let Some(word) = many.get_mut((text / 64) as usize) {
                        *word &= !(1 << (text % 64));
                    }
                }
                Self::bits(self.texts, many)
            }
            (Members::Many(mut many), Members::Many(others)) => {
                many.iter_mut().zip(others).for_each(|(word, other)| *word &= !other);
                Self::bits(self.texts, many)
            }
        }
    }
}

fn is_set(words: &[u64], text: u64) -> bool {
    words.get((text / 64) as usize).is_some_and(|word| word >> (text % 64) & 1 == 1)
}

fn both(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut rest = many;
    let mut out = Vec::with_capacity(few.len());
    for text in few {
        rest = behind(rest, *text);
        if rest.first() == Some(text) {
            out.push(*text);
        }
    }
    out
}

/// What is not before `text`, found in steps that grow.
pub(super) fn behind(list: &[u64], text: u64) -> &[u64] {
    let mut step = 1;
    while list.get(step).is_some_and(|at| *at < text) {
        step *= 2;
    }
    let window = list.get(..(step + 1).min(list.len())).unwrap_or(list);
    list.get(window.partition_point(|at| *at < text)..).unwrap_or_default()
}

/// Takes lists and sets, and becomes the set of what is in any of them.
#[derive(Debug)]
pub struct Union {
    texts: u64,
    list: Vec<u64>,
    /// Whether the list ascends, each once.
    is_set: bool,
    bits: Vec<u64>,
}

impl Union {
    /// Of none yet, of so many texts.
    pub fn new(texts: u64) -> Self {
        Self { texts, list: Vec::new(), is_set: true, bits: Vec::new() }
    }

    /// Bytes that it takes at most, with `more` texts.
    pub fn bytes(&self, more: usize) -> usize {
        let few = (self.list.len() + more).min((self.texts / FEW) as usize + 1);
        (few + self.bits.len()) * size_of::<u64>()
    }

    /// Adds a list.
    pub fn add(&mut self, list: &[u64]) {
        if self.bits.is_empty() && (self.list.len() + list.len()) as u64 > self.texts / FEW {
            self.bits = vec![0; (self.texts / 64 + 1) as usize];
            let before = std::mem::take(&mut self.list);
            self.set(&before);
        }
        if self.bits.is_empty() {
            self.is_set &= match (self.list.last(), list.first()) {
                (Some(last), Some(first)) => last < first,
                _ => true,
            } && list.is_sorted_by(|a, b| a < b);
            self.list.extend_from_slice(list);
        } else {
            self.set(list);
        }
    }

    fn set(&mut self, list: &[u64]) {
        for text in list {
            if let Some(word) = self.bits.get_mut((text / 64) as usize) {
                *word |= 1 << (text % 64);
            }
        }
    }

    /// Adds a set.
    pub fn add_set(&mut self, set: &TextSet) {
        match &set.members {
            Members::Few(few) => self.add(few),
            Members::Many(many) => {
                if self.bits.is_empty() {
                    self.bits.clone_from(many);
                    let before = std::mem::take(&mut self.list);
                    self.set(&before);
                } else {
                    self.bits.iter_mut().zip(many).for_each(|(word, other)| *word |= other);
                }
            }
        }
    }

    /// The set.
    pub fn finish(mut self) -> TextSet {
        if self.bits.is_empty() {
            if !self.is_set {
                self.list.sort_unstable();
                self.list.dedup();
            }
            return TextSet::few(self.texts, self.list);
        }
        TextSet::bits(self.texts, self.bits)
    }
}
