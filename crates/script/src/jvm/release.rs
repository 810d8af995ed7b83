//! Frees values without recursion, so that deeply nested values do not overflow the stack.

use std::rc::Rc;

use super::model::{Array, Frame, List, Map, Object, ResultObject, V};
use super::stack::count_bytes;

/// Memory of an object in bytes, including its reference counters.
pub(super) const OBJECT_BYTES: usize = size_of::<Object>() + 16;
/// Memory of a frame with a few variables, in bytes.
pub(super) const FRAME_BYTES: usize = size_of::<Frame>() + 112;

/// Values and frames that remain to be freed.
#[derive(Default)]
struct Rest {
    values: Vec<V>,
    frames: Vec<Rc<Frame>>,
}

/// Whether dropping the value frees other values.
fn frees_values(value: &V) -> bool {
    match value {
        V::Plain(_) | V::Void | V::Class(_) | V::Host(_) => false,
        V::List(list) => Rc::strong_count(list) == 1,
        V::Array(array) => Rc::strong_count(array) == 1,
        V::Map(map) => Rc::strong_count(map) == 1,
        V::Closure(closure) => Rc::strong_count(closure) == 1,
        V::Object(object) => Rc::strong_count(object) == 1,
    }
}

impl Rest {
    fn add(&mut self, values: Vec<V>) {
        if !values.iter().any(frees_values) {
            return;
        }
        if self.values.is_empty() {
            self.values = values;
        } else {
            self.values.extend(values.into_iter().filter(frees_values));
        }
    }

    fn add_variables(&mut self, frame: &Frame) {
        let Ok(mut variables) = frame.variables.try_borrow_mut() else { return };
        for variable in variables.iter_mut().filter(|variable| frees_values(&variable.value)) {
            self.values.push(std::mem::replace(&mut variable.value, V::NULL));
        }
    }

    fn add_frame(&mut self, frame: &mut Frame) {
        self.add_variables(frame);
        if let Some(parent) = frame.parent.take()
            && Rc::strong_count(&parent) == 1
        {
            self.frames.push(parent);
        }
    }

    fn add_object(&mut self, object: &mut Object) {
        match object {
            Object::LazyText(values) => self.add(std::mem::take(values)),
            Object::Iterator(values) => self.add(Vec::from(std::mem::take(values.get_mut()))),
            Object::Json(value) => self.add(vec![value.replace(V::NULL)]),
            Object::Exception(_, _, cause) => self.add(vec![std::mem::replace(cause, V::NULL)]),
            Object::Entry(key, value) => {
                self.add(vec![std::mem::replace(key, V::NULL), std::mem::replace(value, V::NULL)]);
            }
            Object::Own(frame) if Rc::strong_count(frame) == 1 => self.add_variables(frame),
            Object::Library(instance) => {
                let mut values = Vec::new();
                instance.take_values(&mut values);
                self.add(values);
            }
            _ => {}
        }
    }

    fn take_from(&mut self, value: V) {
        match value {
            V::List(mut list) => {
                if let Some(list) = Rc::get_mut(&mut list) {
                    self.add(list.items.take());
                }
            }
            V::Array(mut array) => {
                if let Some(array) = Rc::get_mut(&mut array) {
                    self.add(array.items.take());
                }
            }
            V::Map(mut map) => {
                if let Some(map) = Rc::get_mut(&mut map) {
                    self.add_map(map);
                }
            }
            V::Closure(closure) => {
                // The machine may have a weak reference to the frame, so `get_mut` does not work.
                if let Some(mut frame) =
                    Rc::into_inner(closure).and_then(|closure| Rc::into_inner(closure.frame))
                {
                    self.add_frame(&mut frame);
                }
            }
            V::Object(mut object) => {
                if let Some(object) = Rc::get_mut(&mut object) {
                    self.add_object(object);
                }
            }
            V::Plain(_) | V::Void | V::Class(_) | V::Host(_) => {}
        }
    }

    fn add_map(&mut self, map: &mut Map) {
        for (key, value) in map.entries.take().into_entries() {
            self.values.extend([key, value].into_iter().filter(frees_values));
        }
    }

    fn free(mut self) {
        loop {
            if let Some(value) = self.values.pop() {
                self.take_from(value);
            } else if let Some(frame) = self.frames.pop() {
                if let Some(mut frame) = Rc::into_inner(frame) {
                    self.add_frame(&mut frame);
                }
            } else {
                return;
            }
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let mut rest = Rest::default();
        rest.add(self.items.take());
        rest.free();
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        let mut rest = Rest::default();
        rest.add(self.items.take());
        rest.free();
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let mut rest = Rest::default();
        rest.add_map(self);
        rest.free();
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        count_bytes(OBJECT_BYTES, 0);
        let mut rest = Rest::default();
        rest.add_object(self);
        rest.free();
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        count_bytes(FRAME_BYTES, 0);
        let mut rest = Rest::default();
        rest.add_frame(self);
        rest.free();
    }
}

impl Drop for ResultObject {
    fn drop(&mut self) {
        let mut rest = std::mem::take(self.subs.get_mut());
        while let Some(result) = rest.pop() {
            if let Some(mut result) = Rc::into_inner(result) {
                rest.append(result.subs.get_mut());
            }
        }
    }
}
