//! Which packets the wire loses.

use crate::config::Loss;
use crate::random::Random;

/// The loss model's state: its stream of draws and, for Gilbert-Elliott, whether the wire is bad now.
#[derive(Clone, Debug)]
pub(crate) struct LossModel {
    random: Random,
    bad: bool,
}

impl LossModel {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, bad: false }
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self, loss: &Loss) -> bool {
        match *loss {
            Loss::None => false,
            Loss::Random(p) => self.random.chance(p),
            Loss::GilbertElliott {
                p_good_to_bad,
                p_bad_to_good,
                loss_good,
                loss_bad,
            } => {
                let turn = if self.bad { p_bad_to_good } else { p_good_to_bad };
                if self.random.chance(turn) {
                    self.bad = !self.bad;
                }
                self.random.chance(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}
