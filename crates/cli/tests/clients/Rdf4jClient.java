// What a program with RDF4J does with a database of a server: java -cp CLASSPATH Rdf4jClient.java http://127.0.0.1:7878/NAME
import java.io.StringReader;
import org.eclipse.rdf4j.common.transaction.IsolationLevels;
import org.eclipse.rdf4j.model.*;
import org.eclipse.rdf4j.model.impl.SimpleValueFactory;
import org.eclipse.rdf4j.model.vocabulary.RDF;
import org.eclipse.rdf4j.query.*;
import org.eclipse.rdf4j.repository.*;
import org.eclipse.rdf4j.repository.http.HTTPRepository;
import org.eclipse.rdf4j.repository.sparql.SPARQLRepository;
import org.eclipse.rdf4j.rio.RDFFormat;

public class Rdf4jClient {
    static final ValueFactory VALUES = SimpleValueFactory.getInstance();
    static final IRI S = VALUES.createIRI("http://example.org/s"), P = VALUES.createIRI("http://example.org/p"),
        G = VALUES.createIRI("http://example.org/g");

    static final String IN_GRAPH = "SELECT * { GRAPH <" + G + "> { ?s ?p ?o } }";

    static void is(Object found, Object expected) {
        if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static long count(RepositoryConnection c, String query) {
        try (TupleQueryResult rows = c.prepareTupleQuery(query).evaluate()) {
            return rows.stream().count();
        }
    }

    static void common(Repository repository) throws Exception {
        try (RepositoryConnection c = repository.getConnection()) {
            c.prepareUpdate("CLEAR ALL").execute();
            c.prepareUpdate("INSERT DATA { <" + S + "> <" + P + "> 1, 'chat'@fr . GRAPH <" + G + "> { <" + S + "> a <" + P + "> } }").execute();
            is(count(c, "SELECT * { ?s <" + P + "> ?o }"), 2L);
            is(c.prepareBooleanQuery("ASK { ?s ?p 'chat'@fr }").evaluate(), true);
            try (GraphQueryResult triples = c.prepareGraphQuery("CONSTRUCT WHERE { ?s <" + P + "> ?o }").evaluate()) {
                is(triples.stream().count(), 2L);
            }
            TupleQuery bound = c.prepareTupleQuery("SELECT * { ?s ?p ?o }");
            bound.setBinding("s", S);
            try (TupleQueryResult rows = bound.evaluate()) {
                is(rows.stream().count() >= 2, true);
            }
            is(c.hasStatement(S, RDF.TYPE, P, false, G), true);
            c.add(S, P, VALUES.createLiteral("added"), G);
            is(count(c, IN_GRAPH), 2L);
            c.remove(S, P, VALUES.createLiteral("added"), G);
            is(count(c, IN_GRAPH), 1L);
            c.add(new StringReader("<http://example.org/t> <http://example.org/p> 5 ."), "http://example.org/", RDFFormat.TURTLE, G);
            is(count(c, IN_GRAPH), 2L);
            try (RepositoryResult<Resource> graphs = c.getContextIDs()) {
                is(graphs.stream().toList().contains(G), true);
            }
            c.clear(G);
            is(count(c, IN_GRAPH), 0L);
        }
    }

    public static void main(String[] args) throws Exception {
        common(new SPARQLRepository(args[0] + "/sparql", args[0] + "/update"));
        common(new SPARQLRepository(args[0], args[0]));
        int slash = args[0].lastIndexOf('/');
        HTTPRepository http = new HTTPRepository(args[0].substring(0, slash), args[0].substring(slash + 1));
        common(http);
        try (RepositoryConnection c = http.getConnection(); RepositoryConnection other = http.getConnection()) {
            c.prepareUpdate("CLEAR ALL").execute();
            c.begin();
            c.add(S, P, VALUES.createLiteral("one"));
            c.prepareUpdate("INSERT { ?s <" + P + "> 'two' } WHERE { ?s <" + P + "> 'one' }").execute();
            is(count(c, "SELECT * { ?s ?p 'two' }"), 1L);
            is(c.hasStatement(S, P, VALUES.createLiteral("one"), false), true);
            is(c.size(), 2L);
            is(count(other, "SELECT * { ?s ?p 'two' }"), 0L);
            c.commit();
            is(count(other, "SELECT * { ?s ?p 'two' }"), 1L);
            c.begin(IsolationLevels.SERIALIZABLE);
            c.remove(S, P, (Value) null);
            is(count(c, "SELECT * { ?s ?p ?o }"), 0L);
            c.rollback();
            is(c.size((Resource) null), 2L);
            try (RepositoryResult<Statement> found = c.getStatements(S, null, null)) {
                is(found.stream().count(), 2L);
            }
            is(c.hasStatement(S, P, null, false, G), false);
            c.add(S, P, VALUES.createLiteral("three"), G);
            is(c.size(G), 1L);
            c.remove(S, P, (Value) null);
            is(c.size(), 0L);
        }
        System.out.println("ok");
    }
}
