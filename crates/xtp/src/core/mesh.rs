//! Meshes of this endpoint: their associations are theirs alone.

use xtp_engine::{ContextId, Event, Time};
use xtp_mesh::{Mesh, MeshCompletion, MeshError, MeshOptions};

use super::Core;
use super::mesh_slot::MeshSlot;
use crate::error::{Error, Result};

impl Core {
    /// Begins a mesh; its number here.
    pub(crate) fn open_mesh(&mut self, options: MeshOptions) -> Result<u32> {
        self.check_carrier()?;
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|error| Error::Entropy(error.to_string()))?;
        let mesh = Mesh::new(&mut self.engine, options, u64::from_ne_bytes(seed))?;
        let number = self.next_mesh;
        self.next_mesh += 1;
        self.meshes.insert(number, MeshSlot::new(mesh));
        Ok(number)
    }

    /// A mesh whose user is there.
    pub(crate) fn mesh(&mut self, number: u32) -> Result<&mut Mesh<Vec<u8>>> {
        let slot = self.meshes.get_mut(&number).filter(|slot| !slot.is_left);
        slot.map(|slot| &mut slot.mesh)
            .ok_or(Error::Command(xtp_engine::Error::NoListener))
    }

    /// Whether a mesh is there, if only to be confirmed.
    pub(crate) fn has_mesh(&self, number: u32) -> bool {
        self.meshes.contains_key(&number)
    }

    /// What came goes to the meshes.
    pub(crate) fn serve_mesh_events(&mut self, now: Time) {
        self.dispatch(now);
        self.serve_meshes(now);
    }

    /// Takes what is over.
    pub(crate) fn take_mesh_completions(
        &mut self,
        now: Time,
        number: u32,
        done: &mut Vec<MeshCompletion<Vec<u8>>>,
    ) -> Result<usize> {
        self.serve_mesh_events(now);
        let before = done.len();
        let mesh = self.mesh(number)?;
        while let Some(completion) = mesh.poll() {
            done.push(completion);
        }
        match done.len() - before {
            0 => self.check_carrier().map(|()| 0),
            count => Ok(count),
        }
    }

    /// Its user leaves a mesh: what was told as sent is confirmed in the background.
    pub(crate) fn leave_mesh(&mut self, now: Time, number: u32) {
        if let Some(slot) = self.meshes.get_mut(&number) {
            slot.is_left = true;
            slot.mesh.leave(now, &mut self.engine);
        }
        self.serve_meshes(now);
    }

    /// Meshes that are left and not gone.
    pub(crate) fn leaving_meshes(&self) -> usize {
        self.meshes.values().filter(|slot| slot.is_left).count()
    }

    /// An event of the engine, if it is a mesh's.
    pub(super) fn mesh_event(&mut self, now: Time, id: ContextId, event: &Event) -> bool {
        let engine = &mut self.engine;
        self.meshes
            .values_mut()
            .any(|slot| slot.mesh.event(now, engine, id, event))
    }

    /// Does what meshes have to do.
    pub(super) fn serve_meshes(&mut self, now: Time) {
        if self.meshes.is_empty() {
            return;
        }
        for slot in self.meshes.values_mut() {
            let before = slot.mesh.has_completions();
            slot.mesh.turn(now, &mut self.engine);
            if !before && slot.mesh.has_completions() {
                self.news += 1;
            }
        }
        self.meshes
            .retain(|_, slot| !slot.is_left || !slot.mesh.is_gone());
    }

    /// Whether a mesh has something to do now.
    pub(super) fn meshes_are_pressing(&self) -> bool {
        self.meshes.values().any(|slot| slot.mesh.is_pressing())
    }

    /// When a mesh has something to do although nothing happens.
    pub(super) fn meshes_deadline(&self) -> Option<Time> {
        let deadlines = self.meshes.values().filter_map(|slot| slot.mesh.deadline());
        deadlines.min()
    }
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Self {
        match error {
            MeshError::Engine(error) => Self::Command(error),
            other => Self::Mesh(other),
        }
    }
}
