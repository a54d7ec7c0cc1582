//! Training of wake heads: from recordings and synthetic voices to a scored `.onnx` file.
//!
//! Sounds are spoken or read ([`prepare`]), divided by voices and days into training, development and test,
//! turned into features by the streaming front end, and fitted ([`fit`]). [`train`] does what follows, too: the
//! file, the check that it scores alike, and the [`Record`] beside it. Events, continuous sound and the search
//! for thresholds are the wake bench's as well.

mod checkpoint;
mod data;
mod error;
mod events;
mod fit;
mod held_out;
mod plan;
mod record;
mod recordings;
mod run;
mod sound;
mod speakers;
mod speech;
mod split;
mod timeline;
mod trace;

pub use data::{Data, Stream};
pub use error::TrainError;
pub use events::{HIT_WINDOW_S, MERGE_S, Matched, Truth, Wake, Word, matched};
pub use fit::{Fitted, Look, fit, traces};
pub use plan::{Optimisation, WakePlan};
pub use record::{Amount, Measured, NearWakes, RECORD_FORMAT, Record, digest};
pub use recordings::{clip_sounds, load as load_recordings};
pub use run::{Progress, Stage, Tools, export, prepare, train};
pub use sound::{Origin, Part, Role, Sound};
pub use speech::Voices;
pub use timeline::{STRETCH_S, Stretch, plan as plan_stretches, render};
pub use trace::{Found, Point, STEP_S, Trace, at, at_threshold, events, search, sweep, time_of};
