// Jena with its index of places, all in memory: java GeoServer PORT FILES...
import org.apache.jena.fuseki.main.FusekiServer;
import org.apache.jena.geosparql.configuration.GeoSPARQLConfig;
import org.apache.jena.query.Dataset;
import org.apache.jena.query.DatasetFactory;
import org.apache.jena.query.ReadWrite;
import org.apache.jena.riot.RDFDataMgr;

public class GeoServer {
    public static void main(String[] args) throws Exception {
        Dataset data = DatasetFactory.createTxnMem();
        long start = System.nanoTime();
        data.begin(ReadWrite.WRITE);
        for (int at = 1; at < args.length; at++) RDFDataMgr.read(data, args[at]);
        data.commit();
        data.end();
        System.err.printf("loaded in %.1f s%n", (System.nanoTime() - start) / 1e9);
        start = System.nanoTime();
        GeoSPARQLConfig.setupMemoryIndex();
        GeoSPARQLConfig.setupSpatialIndex(data);
        System.err.printf("indexed in %.1f s%n", (System.nanoTime() - start) / 1e9);
        FusekiServer.create().port(Integer.parseInt(args[0])).loopback(true).add("/ds", data).build().start();
        System.err.println("serving");
    }
}
