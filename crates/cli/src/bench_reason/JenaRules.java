// Infers with Jena's rules (OWL Mini) from the N-Triples of a file: writes how many triples there are then, and the seconds that inferring took.

import org.apache.jena.rdf.model.InfModel;
import org.apache.jena.rdf.model.Model;
import org.apache.jena.rdf.model.ModelFactory;
import org.apache.jena.rdf.model.StmtIterator;
import org.apache.jena.reasoner.ReasonerRegistry;
import org.apache.jena.riot.RDFDataMgr;

public class JenaRules {
    public static void main(String[] args) {
        Model data = RDFDataMgr.loadModel(args[0]);
        long start = System.nanoTime();
        InfModel inferred = ModelFactory.createInfModel(ReasonerRegistry.getOWLMiniReasoner(), data);
        inferred.prepare();
        long triples = 0;
        // Some of its rules run backward, only when they are asked for.
        for (StmtIterator all = inferred.listStatements(); all.hasNext(); all.next()) {
            triples++;
        }
        System.out.println(triples + " " + (System.nanoTime() - start) / 1e9);
    }
}
