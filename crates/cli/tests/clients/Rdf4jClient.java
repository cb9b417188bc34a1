// What a program with RDF4J does with a database of a server: java -cp CLASSPATH Rdf4jClient.java http://127.0.0.1:7878/NAME
import java.io.StringReader;
import org.eclipse.rdf4j.model.*;
import org.eclipse.rdf4j.model.impl.SimpleValueFactory;
import org.eclipse.rdf4j.model.vocabulary.RDF;
import org.eclipse.rdf4j.query.*;
import org.eclipse.rdf4j.repository.*;
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
        System.out.println("ok");
    }
}
