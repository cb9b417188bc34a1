//! Random documents with every construct of the syntax. Most are valid; the general parser says which.

/// A small generator of numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5DEE_CE66)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as usize % limit.max(1)
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

const PREFIXES: [&str; 7] = ["", "a", "ex", "p.q", "base", "é", "e5"];
const NAMESPACES: [&str; 9] = [
    "<http://a/>",
    "<http://b#>",
    "<http://c>",
    "<http://www.w3.org/2001/XMLSchema#>",
    "<urn:x:>",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#>",
    "<http://\\u00e9/>",
    "<rel/>",
    "<http://d/?x=>",
];
const LOCALS: [&str; 24] = [
    "a", "b", "c1", "x.y", "", "integer", "string", "1", "é", "a:b", "%41", "\\~", "a\\.", "\\-x", "a-b",
    "_u", "e5", "a.1", "a..b", "\\#x", "x\\/y", "·", "a\u{300}", "prefix",
];
const IRIS: [&str; 16] = [
    "<http://a/b>",
    "<http://a/b#c>",
    "<urn:x>",
    "<http://a/../b>",
    "<http://é/>",
    "<http://a/\\u00E9>",
    "<rel>",
    "<>",
    "<#f>",
    "<?q>",
    "<../x/./y>",
    "<//host/x>",
    "<http://a/<>",
    "<http://a/ b>",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
    "<http://a/%4>",
];
const STRINGS: [&str; 20] = [
    "\"\"",
    "''",
    "\"x\"",
    "'y'",
    "\"a . b\"",
    "\"é\"",
    "\"\\n\\t\\\"\\\\\"",
    "\"\\u00e9\\U0001F600\"",
    "\"it's # {\"",
    "\"\"\"x\"\"\"",
    "'''y'''",
    "\"\"\"a \"\" b\n . \"\"\"",
    "'''\\''''''",
    "\"\"\"\"\"\"",
    "\"\"\"\\\"\"\"\"",
    "'a\\'b'",
    "\"\r\"",
    "\"\\q\"",
    "'''a\r\n'b'''",
    "\"\"\"\" x\"\"\"",
];
const NUMBERS: [&str; 14] =
    ["1", "-1", "+5", "1.5", "-.5", ".5", "1e5", "1.E-5", "1.5e+7", "0", "00", "1.", "1e", "+"];
const LANGUAGES: [&str; 12] = [
    "@en",
    "@en-US",
    "@EN",
    "@de-1996",
    "@zh-Hans-CN",
    "@en--ltr",
    "@ar--rtl",
    "@x-y",
    "@e",
    "@en--xyz",
    "@prefix",
    "@i-klingon",
];
const LABELS: [&str; 8] = ["_:a", "_:b1", "_:1", "_:x.y", "_:é", "_:a-b", "_:_", "_:a."];
const GAPS: [&str; 12] =
    [" ", " ", " ", "\n", "\t", "\r\n", "  \n ", " # comment . '\n", "\r", "\n#x\r", "", ""];

/// Makes one document.
pub struct Generator {
    random: Random,
    pub text: String,
    with_graphs: bool,
    /// Constructs of RDF 1.2, too.
    new: bool,
    depth: usize,
}

impl Generator {
    pub fn new(seed: u64, with_graphs: bool) -> Self {
        let mut random = Random::new(seed);
        let new = random.one_in(2);
        Self { random, text: String::new(), with_graphs, new, depth: 0 }
    }

    pub fn document(mut self) -> String {
        for prefix in PREFIXES {
            if !self.random.one_in(20) {
                self.text.push_str(&format!(
                    "@prefix {prefix}: <http://{}/> .\n",
                    self.random.pick(&["x", "y/z", "w#"])
                ));
            }
        }
        for _ in 0..self.random.below(8) {
            match self.random.below(8) {
                0 => self.directive(),
                1..=3 if self.with_graphs => self.block(),
                _ => {
                    self.triples(false);
                    self.token(".");
                }
            }
            self.gap();
        }
        self.text
    }

    fn gap(&mut self) {
        let gap = if self.random.one_in(4) { self.random.pick(&GAPS) } else { " " };
        self.text.push_str(gap);
    }

    fn token(&mut self, token: &str) {
        self.text.push_str(token);
        self.gap();
    }

    fn one_of(&mut self, tokens: &[&str]) {
        let token = self.random.pick(tokens);
        self.token(token);
    }

    fn directive(&mut self) {
        let prefix = format!("{}:", self.random.pick(&PREFIXES));
        let at = self.random.one_in(2);
        match self.random.below(5) {
            0 => {
                self.token(if at { "@base" } else { "BaSe" });
                self.one_of(&["<http://base/>", "<http://base/a/b>", "<sub/>", "<http://other>"]);
            }
            1 => {
                self.token(if at { "@version" } else { "VERSION" });
                self.one_of(&["\"1.2\"", "'1.1'", "\"\"\"1.2\"\"\""]);
            }
            _ => {
                self.token(if at { "@prefix" } else { "PREFIX" });
                self.token(&prefix);
                self.one_of(&NAMESPACES);
            }
        }
        if at {
            self.token(".");
        }
    }

    fn block(&mut self) {
        if self.random.one_in(3) {
            self.token("GRAPH");
        }
        match self.random.below(6) {
            0 => {}
            1 => self.one_of(&LABELS),
            2 => self.one_of(&["[]", "[ ]"]),
            _ => self.iri(),
        }
        self.token("{");
        let count = self.random.below(4);
        for number in 0..count {
            self.triples(true);
            if number + 1 < count || self.random.one_in(2) {
                self.token(".");
            }
        }
        self.token("}");
    }

    fn triples(&mut self, in_block: bool) {
        match self.random.below(12) {
            0 => {
                self.properties();
                if self.random.one_in(2) {
                    return;
                }
            }
            1 => self.collection(),
            2 => self.one_of(&["[]", "[ ]", "[ # x\n ]"]),
            3 if self.new => {
                self.reified();
                if self.random.one_in(2) && !in_block {
                    return;
                }
            }
            4 => self.one_of(&LABELS),
            _ => self.iri(),
        }
        self.predicates();
    }

    fn predicates(&mut self) {
        loop {
            if self.random.one_in(5) {
                self.token("a")
            } else {
                self.iri()
            }
            loop {
                self.object();
                if self.new && self.random.one_in(5) {
                    self.annotation();
                }
                if !self.random.one_in(3) {
                    break;
                }
                self.token(",");
            }
            if !self.random.one_in(2) {
                return;
            }
            self.one_of(&[";", ";", ";;", "; ;"]);
            if self.random.one_in(4) {
                return;
            }
        }
    }

    fn object(&mut self) {
        self.depth += 1;
        match self.random.below(if self.depth > 4 { 8 } else { 12 }) {
            0 => self.one_of(&LABELS),
            1 => self.one_of(&NUMBERS),
            2 => self.one_of(&["true", "false", "[]", "()", "TRUE"]),
            3 | 4 => self.literal(),
            8 => self.properties(),
            9 => self.collection(),
            10 if self.new => self.reified(),
            11 if self.new => self.triple_term(),
            _ => self.iri(),
        }
        self.depth -= 1;
    }

    fn literal(&mut self) {
        let string = self.random.pick(&STRINGS);
        self.text.push_str(string);
        if self.random.one_in(12) {
            self.gap();
        }
        match self.random.below(4) {
            0 => self.one_of(&LANGUAGES),
            1 => {
                self.text.push_str("^^");
                if self.random.one_in(12) {
                    self.gap();
                }
                self.iri();
            }
            _ => self.gap(),
        }
    }

    fn iri(&mut self) {
        if self.random.one_in(3) {
            let known = if self.random.one_in(8) { IRIS.len() } else { 6 };
            let iri = self.random.below(known);
            self.token(IRIS[iri]);
            return;
        }
        let local = if self.random.one_in(3) { self.random.pick(&LOCALS) } else { "a" };
        let name = format!("{}:{local}", self.random.pick(&PREFIXES));
        self.token(&name);
    }

    fn properties(&mut self) {
        self.token("[");
        self.predicates();
        self.token("]");
    }

    fn collection(&mut self) {
        self.token("(");
        for _ in 0..self.random.below(4) {
            self.object();
        }
        self.token(")");
    }

    fn annotation(&mut self) {
        for _ in 0..self.random.below(3) {
            if self.random.one_in(2) {
                self.token("~");
                if self.random.one_in(2) {
                    self.iri();
                }
            } else {
                self.depth += 1;
                self.token("{|");
                if self.depth > 3 {
                    self.token(":p :o")
                } else {
                    self.predicates()
                }
                self.token("|}");
                self.depth -= 1;
            }
        }
    }

    fn part(&mut self) {
        self.depth += 1;
        match self.random.below(if self.depth > 3 { 5 } else { 7 }) {
            0 => self.one_of(&LABELS),
            1 => self.token("[]"),
            2 => self.literal(),
            5 => self.reified(),
            6 => self.triple_term(),
            _ => self.iri(),
        }
        self.depth -= 1;
    }

    fn reified(&mut self) {
        self.token("<<");
        self.part();
        self.iri();
        self.part();
        if self.random.one_in(3) {
            self.token("~");
            self.iri();
        }
        self.token(">>");
    }

    fn triple_term(&mut self) {
        self.token("<<(");
        self.iri();
        self.iri();
        self.part();
        self.token(")>>");
    }
}

/// Damages a text: bytes changed, put in, cut out, doubled; or the end cut off.
pub fn damage(text: &mut Vec<u8>, random: &mut Random) {
    const PARTS: [&str; 44] = [
        "<", ">", "\"", "'", "\\", "{", "}", "[", "]", "(", ")", ":", "@", "#", "&", ";", ".", ",", "_", "-",
        "%", "/", " ", "\n", "\r", "\t", "\0", "\u{FF}", "a", "u", "0", "e", "\"\"\"", "'''", "<<", ">>",
        "<<(", "{|", "~", "^^", "PREFIX ", "@base ", "GRAPH", "true",
    ];
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(6)).min(text.len());
        match random.below(6) {
            0 => {
                text.drain(at..end);
            }
            1 if random.one_in(4) => text.truncate(at),
            2 => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            3 if random.one_in(8) => text.insert(at, [0xFF, 0xC3, 0xED][random.below(3)]),
            4 => {
                text.splice(at..end.min(at + 1), random.pick(&PARTS).bytes());
            }
            _ => {
                text.splice(at..at, random.pick(&PARTS).bytes());
            }
        }
    }
}
