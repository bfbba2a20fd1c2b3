//! A choice on the terminal.

use dialoguer::Select;
use dialoguer::theme::ColorfulTheme;

/// Lets a person choose one of the items; `None` is Escape. Blocks.
///
/// # Errors
///
/// Those of the terminal, Ctrl-C among them.
pub(crate) fn menu(
    prompt: &str,
    items: &[&str],
    default: usize,
) -> dialoguer::Result<Option<usize>> {
    let theme = theme();
    let select = Select::with_theme(&theme).with_prompt(prompt).items(items);
    select.default(default).interact_opt()
}

/// The style of all questions.
pub(crate) fn theme() -> ColorfulTheme {
    ColorfulTheme::default()
}
