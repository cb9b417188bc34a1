// What a program with Apache Jena does with a database of a server: java -cp CLASSPATH JenaClient.java http://127.0.0.1:7878/NAME
import org.apache.jena.query.*;
import org.apache.jena.rdf.model.*;
import org.apache.jena.rdfconnection.*;

public class JenaClient {
    static void is(Object found, Object expected) {
        if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    public static void main(String[] args) {
        String g = "http://example.org/g";
        Model model = ModelFactory.createDefaultModel();
        Resource s = model.createResource("http://example.org/s");
        s.addProperty(model.createProperty("http://example.org/p"), "chat", "fr");
        s.addProperty(model.createProperty("http://example.org/p"), model.createTypedLiteral(42));
        s.addProperty(model.createProperty("http://example.org/q"), model.createResource());

        for (RDFConnection c : new RDFConnection[] {
                RDFConnection.connect(args[0]),
                RDFConnectionRemote.service(args[0]).queryEndpoint("sparql").updateEndpoint("update").gspEndpoint("data").build() }) {
            try (c) {
                c.update("CLEAR ALL");
                c.load(model);
                c.put(g, model);
                is(c.fetch().isIsomorphicWith(model), true);
                is(c.fetch(g).isIsomorphicWith(model), true);
                is(c.fetchDataset().asDatasetGraph().stream().count(), 6L);
                is(c.queryAsk("ASK { GRAPH <" + g + "> { ?s ?p 'chat'@fr } }"), true);
                int[] rows = { 0 };
                c.querySelect("SELECT * { ?s ?p ?o }", row -> rows[0]++);
                is(rows[0], 3);
                is(c.queryConstruct("CONSTRUCT WHERE { ?s ?p ?o }").isIsomorphicWith(model), true);
                is(c.queryDescribe("DESCRIBE <http://example.org/s>").size(), 3L);
                c.update("INSERT DATA { GRAPH <" + g + "> { <http://example.org/t> <http://example.org/p> 1 } }");
                is(c.fetch(g).size(), 4L);
                c.delete(g);
                is(c.queryAsk("ASK { GRAPH <" + g + "> { ?s ?p ?o } }"), false);
                Dataset dataset = DatasetFactory.create(model);
                dataset.addNamedModel(g, model);
                c.putDataset(dataset);
                is(c.fetchDataset().asDatasetGraph().stream().count(), 6L);
                c.delete();
                is(c.fetch().size(), 0L);
                try {
                    c.querySelect("SELECT nonsense", row -> { });
                    throw new AssertionError("nonsense was answered");
                } catch (org.apache.jena.query.QueryParseException | org.apache.jena.sparql.engine.http.QueryExceptionHTTP expected) { }
            }
        }
        System.out.println("ok");
    }
}
