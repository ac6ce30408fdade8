//! A mesh of this endpoint.

use xtp_mesh::Mesh;

/// A mesh, and whether its user is still there.
#[derive(Debug)]
pub(crate) struct MeshSlot {
    pub(super) mesh: Mesh<Vec<u8>>,
    pub(super) is_left: bool,
}

impl MeshSlot {
    pub(super) fn new(mesh: Mesh<Vec<u8>>) -> Self {
        Self { mesh, is_left: false }
    }
}
