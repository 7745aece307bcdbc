//! Moving pictures for the tests of `record`: rings, thin antialiased lines and dots, bright on dark, drawn by arithmetic.
#![allow(clippy::cast_possible_truncation, reason = "coordinates inside a small picture")]

use orrery::record::{FrameError, FrameSource, IN_FLIGHT};
use std::collections::VecDeque;

/// Background of every frame.
pub(crate) const GROUND: [u8; 4] = [11, 15, 20, 255];

/// A source of procedural frames that also watches how it is called.
pub(crate) struct Moving {
    pub(crate) size: (u32, u32),
    pub(crate) frames: u64,
    ground: Vec<u8>,
    waiting: VecDeque<u64>,
    /// The most frames that were ever under way.
    pub(crate) most_in_flight: usize,
    /// Called before each collect, with the frame's number.
    pub(crate) on_collect: Box<dyn FnMut(u64) -> Result<(), FrameError> + Send>,
}

impl Moving {
    pub(crate) fn new(width: u32, height: u32, frames: u64) -> Self {
        let mut canvas =
            Canvas { w: width as usize, h: height as usize, rgba: GROUND.repeat((width * height) as usize) };
        let (cx, cy) = (width as f32 / 2.0, height as f32 / 2.0);
        for n in 1..=4_u8 {
            let r = cy * 0.23 * f32::from(n);
            let steps = (r * 7.0) as usize + 8;
            for k in 0..steps {
                let a = k as f32 / steps as f32 * std::f32::consts::TAU;
                canvas.dot(cx + r * a.cos(), cy + r * a.sin(), 0.6, [60, 72, 84], 0.5);
            }
        }
        Self {
            size: (width, height),
            frames,
            ground: canvas.rgba,
            waiting: VecDeque::new(),
            most_in_flight: 0,
            on_collect: Box::new(|_| Ok(())),
        }
    }

    /// Frame `k` as RGBA.
    pub(crate) fn draw(&self, k: u64) -> Vec<u8> {
        let (w, h) = (self.size.0 as usize, self.size.1 as usize);
        let mut canvas = Canvas { w, h, rgba: self.ground.clone() };
        let (cx, cy) = (w as f32 / 2.0, h as f32 / 2.0);
        let t = k as f32;
        for n in 0..90_u8 {
            let f = f32::from(n);
            let r = cy * (0.2 + 0.7 * (f * 0.37).fract());
            let a = f * 2.4 + t * 0.012 * (1.0 + (f * 0.11).fract());
            let colour = match n % 3 {
                0 => [226, 120, 60],
                1 => [90, 180, 240],
                _ => [240, 230, 140],
            };
            canvas.dot(cx + r * a.cos(), cy + r * a.sin(), 0.8 + cy * 0.008, colour, 1.0);
        }
        for n in 0..6_u8 {
            let a = f32::from(n) * 1.1 + t * 0.03;
            let steps = (cy * 1.4) as usize;
            for s in 0..steps {
                let r = s as f32 * 0.6;
                canvas.dot(cx + r * a.cos(), cy + r * a.sin(), 0.5, [235, 60, 60], 0.5);
            }
        }
        canvas.rgba
    }
}

struct Canvas {
    w: usize,
    h: usize,
    rgba: Vec<u8>,
}

impl Canvas {
    /// A disk with a soft edge one pixel wide.
    fn dot(&mut self, x: f32, y: f32, r: f32, colour: [u8; 3], alpha: f32) {
        let reach = r + 1.0;
        let span = |c: f32, n: usize| (c - reach).max(0.0) as usize..((c + reach).ceil().max(0.0) as usize).min(n);
        for py in span(y, self.h) {
            for px in span(x, self.w) {
                let d = (px as f32 + 0.5 - x).hypot(py as f32 + 0.5 - y);
                let cover = (r + 0.5 - d).clamp(0.0, 1.0) * alpha;
                let at = (py * self.w + px) * 4;
                for (c, &want) in colour.iter().enumerate() {
                    let have = f32::from(self.rgba[at + c]);
                    self.rgba[at + c] = (have + (f32::from(want) - have) * cover).round() as u8;
                }
            }
        }
    }
}

impl FrameSource for Moving {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn frames(&self) -> u64 {
        self.frames
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        assert!(k < self.frames, "frame {k} of {}", self.frames);
        self.waiting.push_back(k);
        self.most_in_flight = self.most_in_flight.max(self.waiting.len());
        assert!(self.waiting.len() as u64 <= IN_FLIGHT, "too many frames in flight");
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        let k = self.waiting.pop_front().ok_or_else(|| FrameError::new("nothing was submitted"))?;
        (self.on_collect)(k)?;
        into.clear();
        into.extend_from_slice(&self.draw(k));
        Ok(())
    }
}
