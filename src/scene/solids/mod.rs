//! Numbers of an array's elements as solids in space: shapes of triangles, a camera, and what it sees. Pure: what is seen is a list of
//! triangles in pixels, whoever draws them.

pub mod camera;
pub mod frame;
pub mod iso;
pub mod look;
pub mod mesh;
pub mod plane;
pub mod scale;
pub mod scatter;
pub mod tube;

pub use camera::{Facets, Orbit, Projection, Seen, Sight};
pub use iso::Isovalues;
pub use look::{Measure, SolidLook};
pub use mesh::Mesh;
pub use plane::{Form, Ground, Heights};
pub use scatter::Glyphs;
