//! Which segments are merged next: a few of about the same size, so that each document is merged a few times in all.

use crate::segment::SegmentInfo;
use crate::store::SegmentId;

/// How far merging goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// So many segments of about one size become one.
    pub fan: usize,
    /// A merged segment has at most so many postings: a bound for the time and memory of one merge.
    pub postings: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fan: 4, postings: 8_000_000 }
    }
}

/// Segments below this are of one size.
const SMALLEST: u64 = 8192;

/// The segments to merge next; nothing if all is well. One that is a quarter tombstones is merged alone.
pub fn choose(segments: &[SegmentInfo], limits: Limits) -> Option<Vec<SegmentId>> {
    let rotten = segments.iter().find(|segment| segment.buried > 0 && segment.buried >= segment.documents / 4);
    if let Some(segment) = rotten {
        return Some(vec![segment.id]);
    }
    let mut sizes: Vec<(u64, SegmentId)> = segments.iter().map(|segment| (segment.postings, segment.id)).collect();
    sizes.sort_unstable();
    let tier = |postings: u64| (postings / SMALLEST).max(1).ilog(limits.fan.max(2) as u64);
    for of_tier in sizes.chunk_by(|(a, _), (b, _)| tier(*a) == tier(*b)) {
        let mut sum = 0;
        let fit = of_tier.iter().take_while(|(postings, _)| {
            sum += postings;
            sum <= limits.postings
        });
        let fit: Vec<SegmentId> = fit.map(|(_, id)| *id).collect();
        if fit.len() >= limits.fan {
            return Some(fit);
        }
    }
    None
}
