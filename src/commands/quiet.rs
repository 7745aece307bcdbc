//! Keeps drivers from talking on standard error.

/// Mesa's layer that picks a device asks the Wayland library, which prints `error: XDG_RUNTIME_DIR is invalid or not set` on
/// machines without a session (servers, containers), twice a run, as if the command had failed. The layer is told to stay
/// away by a variable that must be there before the process starts, so the program starts itself again, once, in place.
/// Where that is not possible the words are harmless.
#[cfg(target_os = "linux")]
pub fn hush_drivers() {
    use std::os::unix::process::CommandExt;
    const SWITCH: &str = "NODEVICE_SELECT";
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    if set("XDG_RUNTIME_DIR") || set("WAYLAND_DISPLAY") || set(SWITCH) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut args = std::env::args_os();
        let mut again = std::process::Command::new(program);
        if let Some(name) = args.next() {
            again.arg0(name);
        }
        // Comes back only where it failed; then the run goes on as it is.
        let _ = again.args(args).env(SWITCH, "1").exec();
    }
}

/// Elsewhere drivers are quiet.
#[cfg(not(target_os = "linux"))]
pub fn hush_drivers() {}
