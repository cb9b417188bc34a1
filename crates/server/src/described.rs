//! What the server tells of itself and of its data: the SPARQL 1.1 Service Description with VoID figures of all graphs, for a GET of the
//! endpoint without a query, and the data alone at `/.well-known/void`. Everything it says is so: features that are off are left out, and figures are
//! counted, once a version.

use crate::access::graph_rules;
use crate::deadline::after;
use crate::error::HttpError;
use crate::negotiate::{accept, negotiate_rdf};
use crate::state::{AppState, blocking};
use crate::stream::{ChunkWriter, answered};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{CancelToken, DefaultGraph, Description, Figures, GraphRules};
use lode_rdf::serialize::QuadWriter;
use lode_rdf::{
    BlankNode, GraphNameRef, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef,
    QuadRef, RdfFormat, Term, TermRef,
};
use std::io::{self, Write};
use std::sync::Arc;

const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
const VOID: &str = "http://rdfs.org/ns/void#";
const FORMATS: &str = "http://www.w3.org/ns/formats/";
const FOAF: &str = "http://xmlns.com/foaf/0.1/";
const TYPE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
const PREFIXES: [(&str, &str); 4] = [("sd", SD), ("void", VOID), ("formats", FORMATS), ("foaf", FOAF)];

/// The formats that data is read in and graphs are answered in.
const RDF: [&str; 6] = ["N-Triples", "N-Quads", "Turtle", "TriG", "RDF_XML", "JSON-LD"];
const RESULTS: [&str; 4] =
    ["SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"];

/// The figures of the current version.
async fn description(state: &Arc<AppState>, rules: &GraphRules) -> Result<Arc<Description>, HttpError> {
    let is_whole = rules.reads_all();
    let current = || {
        if is_whole { state.described.of_version(state.database.snapshot().state_number()) } else { None }
    };
    if let Some(found) = current() {
        return Ok(found);
    }
    let limit = state.limits.get().timeout;
    let busy = |_| HttpError::busy("the figures of the database are being counted: try again later");
    let _turn =
        tokio::time::timeout_at(after(limit).into(), state.described.turn.lock()).await.map_err(busy)?;
    if let Some(found) = current() {
        return Ok(found);
    }
    let cancel = CancelToken::new(Some(limit));
    let _left = crate::state::CancelOnDrop(cancel.clone());
    let (at, rules) = (Arc::clone(state), rules.clone());
    let found = blocking(move || {
        let mut options = at.query_options(&rules);
        options.cancel = cancel;
        Ok(at.database.describe(&at.database.snapshot(), &options)?)
    });
    let found = Arc::new(found.await?);
    if is_whole {
        state.described.keep(&found);
    }
    Ok(found)
}

/// What a description is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Service,
    Data,
}

/// The service and its data.
pub(crate) async fn service(
    state: Arc<AppState>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Response, HttpError> {
    answer(state, uri, headers, About::Service).await
}

/// The data alone.
pub(crate) async fn void(
    State(state): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    answer(state, &uri, &headers, About::Data).await
}

async fn answer(
    state: Arc<AppState>,
    uri: &Uri,
    headers: &HeaderMap,
    about: About,
) -> Result<Response, HttpError> {
    let format = negotiate_rdf(&accept(headers), false).ok_or_else(|| {
        let message = "none of the accepted media types fits: offered are text/turtle, application/n-triples, application/rdf+xml, \
                       application/ld+json, application/n-quads, application/trig";
        HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
    })?;
    let rules = graph_rules();
    let described = description(&state, &rules).await?;
    // Who may not read all graphs would learn of changes to others.
    let tag = rules.reads_all().then(|| state.validators.of_description(described.version, format));
    if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(headers)) {
        return Ok(tag.not_modified());
    }
    let own = |path: &str| {
        let own = state.own_iri(uri, headers)?.into_string();
        NamedNode::new(format!("{}{path}", own.strip_suffix(uri.path())?)).ok()
    };
    let told = Told {
        about,
        endpoint: own("/sparql"),
        document: own("/.well-known/void"),
        features: features(&state),
        is_writable: state.database.store().is_writable(),
        described,
    };
    let limit = CancelToken::new(Some(state.limits.get().download_timeout));
    let ((), body) =
        answered(limit, state.memory().cloned(), told, move |told, writer: &mut ChunkWriter<()>| {
            writer.announce(());
            told.write(format, writer)
                .map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        })
        .await?;
    let media_type =
        if format == RdfFormat::Turtle { "text/turtle; charset=utf-8" } else { format.media_type() };
    let mut response = ([(header::CONTENT_TYPE, media_type), (header::VARY, "Accept")], body).into_response();
    tag.iter().for_each(|tag| tag.tell(&mut response));
    Ok(response)
}

/// The features that are on.
fn features(state: &AppState) -> Vec<&'static str> {
    let options = &state.options.query;
    let mut features = Vec::new();
    if options.service.is_some() {
        features.push("BasicFederatedQuery");
    }
    if options.default_graph == DefaultGraph::Union {
        features.push("UnionDefaultGraph");
    }
    features
}

/// All that is told.
struct Told {
    about: About,
    endpoint: Option<NamedNode>,
    document: Option<NamedNode>,
    features: Vec<&'static str>,
    is_writable: bool,
    described: Arc<Description>,
}

/// A document on its way.
struct Page<W: Write> {
    writer: QuadWriter<W>,
    nodes: u64,
}

impl<W: Write> Page<W> {
    fn node(&mut self) -> NamedOrBlankNode {
        self.nodes += 1;
        BlankNode::new_unchecked(format!("n{}", self.nodes)).into()
    }

    fn say(&mut self, subject: &NamedOrBlankNode, name: (&str, &str), object: TermRef<'_>) -> io::Result<()> {
        let predicate = NamedNode::new_unchecked(format!("{}{}", name.0, name.1));
        self.write(subject.as_ref(), predicate.as_ref(), object)
    }

    fn is_a(&mut self, subject: &NamedOrBlankNode, class: (&str, &str)) -> io::Result<()> {
        let class = NamedNode::new_unchecked(format!("{}{}", class.0, class.1));
        self.write(subject.as_ref(), TYPE, class.as_ref().into())
    }

    /// The same of several values with names in one namespace.
    fn list(
        &mut self,
        subject: &NamedOrBlankNode,
        name: &str,
        space: &str,
        values: &[&str],
    ) -> io::Result<()> {
        for value in values {
            let value = NamedNode::new_unchecked(format!("{space}{value}"));
            self.say(subject, (SD, name), value.as_ref().into())?;
        }
        Ok(())
    }

    fn figures(&mut self, subject: &NamedOrBlankNode, figures: &Figures) -> io::Result<()> {
        let Figures { triples, entities, classes, properties, subjects, objects } = *figures;
        for (name, count) in [
            ("triples", triples),
            ("entities", entities),
            ("classes", classes),
            ("properties", properties),
            ("distinctSubjects", subjects),
            ("distinctObjects", objects),
        ] {
            self.say(subject, (VOID, name), Literal::from(count).as_ref().into())?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        subject: NamedOrBlankNodeRef<'_>,
        predicate: NamedNodeRef<'_>,
        object: TermRef<'_>,
    ) -> io::Result<()> {
        let graph_name = GraphNameRef::DefaultGraph;
        self.writer.write(QuadRef { subject, predicate, object, graph_name })
    }
}

impl Told {
    fn write(&self, format: RdfFormat, writer: impl Write) -> io::Result<()> {
        let writer = QuadWriter::start_with_prefixes(format, writer, &PREFIXES)?;
        let mut page = Page { writer, nodes: 0 };
        let data = page.node();
        match self.about {
            About::Service => self.write_service(&mut page, &data)?,
            About::Data => self.write_document(&mut page, &data)?,
        }
        self.write_data(&mut page, &data)?;
        page.writer.finish()?;
        Ok(())
    }

    fn write_service<W: Write>(&self, page: &mut Page<W>, data: &NamedOrBlankNode) -> io::Result<()> {
        let service = page.node();
        page.is_a(&service, (SD, "Service"))?;
        if let Some(endpoint) = &self.endpoint {
            page.say(&service, (SD, "endpoint"), endpoint.as_ref().into())?;
        }
        page.list(&service, "supportedLanguage", SD, &["SPARQL11Query"])?;
        if self.is_writable {
            page.list(&service, "supportedLanguage", SD, &["SPARQL11Update"])?;
            page.list(&service, "inputFormat", FORMATS, &RDF)?;
        }
        page.list(&service, "feature", SD, &self.features)?;
        page.list(&service, "resultFormat", FORMATS, &RESULTS)?;
        page.list(&service, "resultFormat", FORMATS, &RDF)?;
        page.say(&service, (SD, "defaultDataset"), data.as_ref().into())
    }

    fn write_document<W: Write>(&self, page: &mut Page<W>, data: &NamedOrBlankNode) -> io::Result<()> {
        let document = match &self.document {
            Some(document) => document.clone().into(),
            None => page.node(),
        };
        page.is_a(&document, (VOID, "DatasetDescription"))?;
        page.say(&document, (FOAF, "primaryTopic"), data.as_ref().into())
    }

    fn write_data<W: Write>(&self, page: &mut Page<W>, data: &NamedOrBlankNode) -> io::Result<()> {
        let Description { whole, default, named, .. } = &*self.described;
        page.is_a(data, (SD, "Dataset"))?;
        page.is_a(data, (VOID, "Dataset"))?;
        if let Some(endpoint) = &self.endpoint {
            page.say(data, (VOID, "sparqlEndpoint"), endpoint.as_ref().into())?;
        }
        page.figures(data, whole)?;
        let graph = page.node();
        page.say(data, (SD, "defaultGraph"), graph.as_ref().into())?;
        let union = self.features.contains(&"UnionDefaultGraph");
        write_graph(page, &graph, if union { whole } else { default })?;
        for (name, figures) in named {
            let (entry, graph) = (page.node(), page.node());
            page.say(data, (SD, "namedGraph"), entry.as_ref().into())?;
            page.is_a(&entry, (SD, "NamedGraph"))?;
            // A blank node as a graph's name means nothing outside of the database.
            if let Term::NamedNode(name) = name {
                page.say(&entry, (SD, "name"), name.as_ref().into())?;
            }
            page.say(&entry, (SD, "graph"), graph.as_ref().into())?;
            write_graph(page, &graph, figures)?;
        }
        Ok(())
    }
}

fn write_graph<W: Write>(page: &mut Page<W>, graph: &NamedOrBlankNode, figures: &Figures) -> io::Result<()> {
    page.is_a(graph, (SD, "Graph"))?;
    page.is_a(graph, (VOID, "Dataset"))?;
    page.figures(graph, figures)
}
