//! What is read of the rows of the benchmark.

use super::saved;

fn row(transport: &str, receivers: usize, packets: f64) -> String {
    format!(
        "\n  {{\n    \"transport\": \"{transport}\",\n    \"path\": \"1-to-{receivers} 10mbit\",\n    \"feedback_packets\": {packets:.1}\n  }}"
    )
}

#[test]
fn the_saving_is_the_mean_over_the_sizes() {
    let mut rows = Vec::new();
    for (with, without) in [(50.0, 100.0), (20.0, 100.0), (90.0, 100.0)] {
        rows.push(row("xtp-bucket", 10, with));
        rows.push(row("xtp-bucket-plain", 10, without));
    }
    let json = format!("[{}\n]", rows.join(","));
    let mean = saved(&json, 10).expect("enough");
    assert!((mean - 140.0 / 3.0).abs() < 1e-9, "{mean}");
    saved(&json, 4).expect_err("nobody measured it");
    let more = json.replace("20.0", "99.0").replace("50.0", "95.0");
    saved(&more, 10).expect_err("that is too little");
}
