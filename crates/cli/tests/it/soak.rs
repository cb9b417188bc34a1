//! `lode bench soak`, for some seconds.

use crate::lode::Lode;
use serde_json::Value;

#[test]
fn a_mixed_load_with_kills_loses_nothing() {
    let lode = Lode::new();
    let short = ["bench", "soak", "soak", "--minutes", "0.17", "--kill-every", "2", "--products", "20"];
    let report = lode.run(&[&short[..], &["--units", "400", "--json"]].concat());
    let report: Value = serde_json::from_str(&report.ok()).unwrap();
    assert_eq!((&report["wrong"], &report["failures"]), (&0.into(), &Value::Array(Vec::new())));
    assert!(report["deeds"]["kills"].as_u64() >= Some(1), "{report:#}");
    // After each kill, at the end, and after the last compaction.
    let comparisons = report["deeds"]["kills"].as_u64().unwrap() + 2;
    assert_eq!(report["deeds"]["comparisons"].as_u64(), Some(comparisons), "{report:#}");
    let minute = &report["minutes"][0];
    for kind in ["commits", "queries"] {
        assert!(minute[kind]["count"].as_u64() > Some(10), "{kind}: {report:#}");
        let (median, p99) = (&minute[kind]["median_seconds"], &minute[kind]["p99_seconds"]);
        assert!(median.as_f64() > Some(0.0) && median.as_f64() <= p99.as_f64(), "{report:#}");
    }
    assert!(report["end"]["packed_bytes"].as_u64() <= report["end"]["bytes"].as_u64(), "{report:#}");
    // What is there is not written over.
    let error = lode.run(&short).fails(1);
    assert!(error.contains("is not empty"), "{error}");
    assert!(lode.run(&["bench", "soak", "--help"]).ok().contains("--kill-every"));
}
