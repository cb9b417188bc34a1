//! Names of the vocabulary of SHACL, and of those that it builds upon.

use lode_rdf::NamedNodeRef;

/// The namespace of SHACL.
pub const SH: &str = "http://www.w3.org/ns/shacl#";

macro_rules! names {
    ($($name:ident = $namespace:literal $local:literal;)*) => {
        $(pub const $name: NamedNodeRef<'static> = NamedNodeRef::new_unchecked(concat!($namespace, $local));)*
    };
}

names! {
    RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" "type";
    RDF_FIRST = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" "first";
    RDF_REST = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" "rest";
    RDF_NIL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" "nil";
    RDFS_CLASS = "http://www.w3.org/2000/01/rdf-schema#" "Class";
    RDFS_SUB_CLASS_OF = "http://www.w3.org/2000/01/rdf-schema#" "subClassOf";
    OWL_CLASS = "http://www.w3.org/2002/07/owl#" "Class";
    OWL_IMPORTS = "http://www.w3.org/2002/07/owl#" "imports";
    XSD_BOOLEAN = "http://www.w3.org/2001/XMLSchema#" "boolean";
}

/// A name of the vocabulary of SHACL.
pub fn sh(local: &str) -> lode_rdf::NamedNode {
    lode_rdf::NamedNode::new_unchecked(format!("{SH}{local}"))
}

/// Properties by which a node is a shape: parameters of constraint components.
pub const PARAMETERS: [&str; 32] = [
    "class",
    "datatype",
    "nodeKind",
    "minCount",
    "maxCount",
    "minExclusive",
    "minInclusive",
    "maxExclusive",
    "maxInclusive",
    "minLength",
    "maxLength",
    "pattern",
    "languageIn",
    "uniqueLang",
    "equals",
    "disjoint",
    "lessThan",
    "lessThanOrEquals",
    "not",
    "and",
    "or",
    "xone",
    "node",
    "property",
    "qualifiedValueShape",
    "qualifiedMinCount",
    "qualifiedMaxCount",
    "closed",
    "hasValue",
    "in",
    "sparql",
    "path",
];

/// What else a shape may say in the vocabulary of SHACL.
pub const OTHERS: [&str; 22] = [
    "targetNode",
    "targetClass",
    "targetSubjectsOf",
    "targetObjectsOf",
    "severity",
    "message",
    "deactivated",
    "flags",
    "ignoredProperties",
    "qualifiedValueShapesDisjoint",
    "name",
    "description",
    "order",
    "group",
    "defaultValue",
    "prefixes",
    "declare",
    "select",
    "optional",
    "labelTemplate",
    "shapesGraph",
    "entailment",
];
