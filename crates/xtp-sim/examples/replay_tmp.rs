use xtp_sim::scenario::{Class, Scenario};
fn main() {
    for w in std::env::args().skip(1) {
        let s = Scenario::new(w.parse().unwrap(), Class::Cast);
        s.replay(&mut std::io::stdout()).unwrap();
    }
}
