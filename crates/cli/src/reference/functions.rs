//! Functions and aggregates of queries: what the planner's lists know of each, and what each does.

use super::{code, plain, table};
use lode_eval::{aggregate, functions};
use lode_sparql::Function;
use lode_sparql::function::{ValueType, Volatility};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const GEOF: &str = "http://www.opengis.net/def/function/geosparql/";
/// Of the search of texts.
const TEXT: &str = "urn:lodestore:text:";
/// The second name of what is called `bif:...`, too.
const BIF: &str = "http://www.openlinksw.com/schemas/bif#";
/// Names that came with SPARQL 1.2.
const OF_1_2: [&str; 9] = [
    "LANGDIR",
    "STRLANGDIR",
    "ISTRIPLE",
    "HASLANG",
    "HASLANGDIR",
    "TRIPLE",
    "SUBJECT",
    "PREDICATE",
    "OBJECT",
];
const HEAD: &str = "\
# Functions

All functions and aggregates that there are. An error (a wrong type, a number that is too large) is an unbound value. A function of another name is a call that is always an error; `lode query` and the page warn of it.

## Functions

";
const FORMS: &str = "\
## Forms

What looks like a function and decides itself which of its arguments are evaluated, or is another name.

";
const CASTS: &str = "\
## Casts

Datatypes of XML Schema are functions of one argument: `xsd:integer(?text)`. After XPath's table of casts; derived types of integers check their range.

";
const BY_IRI: &str = "\
## By IRI

Functions of doubles, after XPath and XQuery Functions and Operators 3.1, section 4.8. With `PREFIX math: <http://www.w3.org/2005/xpath-functions/math#>` they are `math:sqrt(?x)` and so on; angles are radians.

";
const SEARCH: &str = "\
## Full-text search

With `PREFIX text: <urn:lodestore:text:>` they are `text:matches(?text, \"words\")` and so on. [Search](../search.md) tells what a query for words is, and of `text:query`. The optional arguments of `snippet` are what stands before and behind a word, and how many characters are shown.

";
const OF_GEOMETRIES: &str = "\
## Geometries

The functions of GeoSPARQL 1.1, with `PREFIX geof: <http://www.opengis.net/def/function/geosparql/>`. What they mean, and which geometries, reference systems and units they take: [Places](../geosparql.md). A geometry that cannot be read, or is not valid for what is asked, is an error. Functions of Virtuoso's are called with `PREFIX bif: <bif:>` or `PREFIX bif: <http://www.openlinksw.com/schemas/bif#>`.

";
const AGGREGATES: &str = "\
## Aggregates

";

pub fn page() -> String {
    let known: Vec<&Function> = functions::all().filter(|function| !function.name.contains(':')).collect();
    let is_known = |name: &str| known.iter().any(|function| function.name.eq_ignore_ascii_case(name));
    let is_aggregate = |name: &str| aggregate::all().any(|aggregate| aggregate.keyword() == name);
    let rows = known.iter().map(|function| row(function));
    let columns = ["Function", "Arguments", "Gives", "What it does", "From"];
    let calls = table(&columns, rows);
    let forms = lode_assist::functions().iter().filter(|(name, _, _)| !is_known(name) && !is_aggregate(name));
    let forms = table(
        &["Form", "What it does"],
        forms.map(|(name, arguments, what)| vec![code(&format!("{name}{arguments}")), plain(what)]),
    );
    let casts = functions::all()
        .filter_map(|function| Some(code(&format!("xsd:{}", function.name.strip_prefix(XSD)?))));
    let casts = casts.collect::<Vec<_>>().join(", ");
    let short = |function: &'static Function| row(function).into_iter().take(3).collect::<Vec<_>>();
    let of_search = |function: &&Function| function.name.starts_with(TEXT);
    let search = table(&columns[..3], functions::all().filter(of_search).map(short));
    let others = functions::all().filter(|function| {
        function.name.contains(':')
            && ![XSD, GEOF, BIF, "bif:", TEXT].iter().any(|space| function.name.starts_with(space))
    });
    let others = table(&columns[..3], others.map(short));
    let geometries = functions::all().filter_map(|function| {
        let mut cells = short(function);
        let name = function.name.strip_prefix(GEOF);
        let name = name
            .map(|name| format!("geof:{name}"))
            .or_else(|| Some(function.name.to_owned()).filter(|name| name.starts_with("bif:")));
        *cells.first_mut()? = code(&name?);
        Some(cells)
    });
    let geometries = table(&columns[..3], geometries);
    let aggregates = lode_assist::functions().iter().filter(|(name, _, _)| is_aggregate(name));
    let aggregates =
        aggregates.map(|(name, arguments, what)| vec![code(&format!("{name}{arguments}")), plain(what)]);
    let of_geometries = aggregate::all().filter_map(|aggregate| {
        let name = aggregate.name.strip_prefix(GEOF)?;
        Some(vec![
            code(&format!("geof:{name}([DISTINCT] literal)")),
            plain("What the geometries of a group are together."),
        ])
    });
    let aggregates = aggregates.chain(of_geometries);
    let aggregates = table(&["Aggregate", "What it does"], aggregates);
    [
        HEAD,
        &calls,
        FORMS,
        &forms,
        CASTS,
        &casts,
        ".\n\n",
        BY_IRI,
        &others,
        SEARCH,
        &search,
        OF_GEOMETRIES,
        &geometries,
        AGGREGATES,
        &aggregates,
    ]
    .concat()
    .trim_end()
    .to_owned()
        + "\n"
}

fn row(function: &Function) -> Vec<String> {
    let upper = function.name.to_ascii_uppercase();
    let words = lode_assist::functions().iter().find(|(name, _, _)| *name == upper);
    let mut what = words.map(|(_, _, what)| plain(what)).unwrap_or_default();
    match function.volatility {
        Volatility::Call => what.push_str(" Another at each call."),
        Volatility::Query | Volatility::Solution | Volatility::Immutable => {}
    }
    let mut arguments: Vec<String> = function.required.iter().map(|kind| named(*kind).to_owned()).collect();
    arguments.extend(function.optional.iter().map(|kind| format!("[{}]", named(*kind))));
    arguments.extend(function.rest.map(|kind| format!("{} ...", named(kind))));
    let from = if OF_1_2.contains(&upper.as_str()) {
        "SPARQL 1.2"
    } else if function.name.contains(':') {
        ""
    } else {
        "SPARQL 1.1"
    };
    vec![code(function.name), arguments.join(", "), named(function.result).to_owned(), what, from.to_owned()]
}

fn named(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Term => "term",
        ValueType::Iri => "IRI",
        ValueType::Blank => "blank node",
        ValueType::Literal => "literal",
        ValueType::String => "string",
        ValueType::Boolean => "boolean",
        ValueType::Integer => "integer",
        ValueType::Number => "number",
        ValueType::Floating => "float or double",
        ValueType::Calendar => "date or time",
        ValueType::Duration => "duration",
        ValueType::Triple => "triple term",
    }
}
