//! Keys of the window system as those of the table.

use super::keys::{Action, Chord, Key, action};
use winit::keyboard::{Key as Logical, ModifiersState, NamedKey};

/// What a key does, with what is held beside it.
pub(super) fn meaning(key: &Logical, held: ModifiersState) -> Option<Action> {
    chord(key, held).and_then(action)
}

/// winit's key as ours; `None` for keys that mean nothing here.
fn chord(key: &Logical, held: ModifiersState) -> Option<Chord> {
    let key = match key {
        Logical::Named(NamedKey::Space) => Key::Space,
        Logical::Named(NamedKey::ArrowLeft) => Key::Left,
        Logical::Named(NamedKey::ArrowRight) => Key::Right,
        Logical::Named(NamedKey::Home) => Key::Home,
        Logical::Named(NamedKey::End) => Key::End,
        Logical::Named(NamedKey::Escape) => Key::Escape,
        Logical::Named(NamedKey::Enter) => Key::Enter,
        Logical::Named(NamedKey::Tab) => Key::Tab,
        Logical::Named(NamedKey::F1) => Key::F1,
        Logical::Named(NamedKey::F5) => Key::F5,
        Logical::Named(NamedKey::F11) => Key::F11,
        Logical::Named(NamedKey::F12) => Key::F12,
        Logical::Character(text) => match text.as_str() {
            " " => Key::Space,
            text => Key::Char(text.chars().next()?.to_ascii_lowercase()),
        },
        _ => return None,
    };
    let command = cfg!(target_os = "macos") && held.super_key();
    Some(Chord { key, shift: held.shift_key(), ctrl: held.control_key() || command, alt: held.alt_key() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_window_system_are_ours() {
        let none = ModifiersState::empty();
        let character = |c: &str| Logical::Character(c.into());
        assert_eq!(meaning(&Logical::Named(NamedKey::Space), none), Some(Action::PlayPause));
        assert_eq!(meaning(&character("H"), ModifiersState::SHIFT), Some(Action::Panels));
        assert_eq!(meaning(&character("?"), ModifiersState::SHIFT), Some(Action::Sheet));
        let right = Logical::Named(NamedKey::ArrowRight);
        assert_eq!(meaning(&right, ModifiersState::CONTROL), Some(Action::Miss(true)));
        assert_eq!(meaning(&right, ModifiersState::SHIFT), Some(Action::Step(10)));
        assert_eq!(meaning(&Logical::Named(NamedKey::Enter), ModifiersState::ALT), Some(Action::FullScreen));
        assert_eq!(meaning(&Logical::Named(NamedKey::Tab), none), Some(Action::NextPane));
        assert_eq!(meaning(&Logical::Named(NamedKey::PageUp), none), None);
    }
}
