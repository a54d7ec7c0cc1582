//! Plots as inline SVG for a page that may be light or dark.
//!
//! plotters draws in colours that stand for roles (ink, grid, the first series …); [`canvas`] turns
//! each into a CSS variable of the page with a plain colour to fall back on, adds a title and a
//! description for screen readers and leaves every text a text. Nothing is ever a raster.

mod axis;
mod canvas;
mod det;
mod nights;
mod rates;
mod spread;
mod times;

pub use det::{DetSeries, det};
pub use nights::{ChartPoint, p_chart};
pub use spread::Spreads;

pub(crate) use canvas::SERIES;
pub(crate) use rates::rates;
pub(crate) use spread::Measure;
pub(crate) use times::{boxes, cumulative};
