//! The names of the commands.

/// Names, what they take, and what they do.
pub const COMMANDS: [(&str, &str, &str); 17] = [
    (".graphs", "", "named graphs and their quads"),
    (".classes", "", "classes and how many things are of each (also .tables)"),
    (".predicates", "[CLASS]", "predicates and how often they are used, of things of a class or of all"),
    (".describe", "IRI", "what is said of a thing"),
    (".search", "WORDS", "things by words of their texts, the best first"),
    (".prefix", "[NAME: IRI | -NAME]", "the prefixes that are kept; keep one; or forget it"),
    (".mode", "[FORMAT]", "how answers are written: table, json, xml, csv, tsv, nt, ttl, ..."),
    (".timer", "on|off", "tell rows and time of each query"),
    (".reason", "[off | RULES]", "also find what follows: hierarchies, rdfs, rdfs-plus, or single rules"),
    (".explain", "[QUERY | on|off]", "the plan of a query; or of all that follow, in place of running them"),
    (".output", "[FILE]", "write answers to a file, from now on; without a name to the screen again"),
    (".load", "FILE...", "load RDF files"),
    (".read", "FILE", "run the statements and commands in a file"),
    (".tables", "", "the same as .classes"),
    (".help", "", "this"),
    (".quit", "", "end the shell (also Ctrl-D)"),
    (".exit", "", "the same"),
];
