//! The line editor: where a statement ends, its colours, what completes it, and its history.

use super::arguments::{Argument, argument};
use super::menu::SilentMenu;
use super::names::COMMANDS;
use super::state::{self, KeptPrefixes};
use super::statement::{is_command, is_complete};
use crate::args::ShellArgs;
use crate::lsp::source::Source;
use crate::talk::say;
use lode_assist::{PieceKind, Prefix, pieces};
use nu_ansi_term::{Color, Style};
use reedline::{
    ColumnarMenu, Completer, CompletionResult, Emacs, FileBackedHistory, Highlighter, KeyCode, KeyModifiers,
    MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Span,
    StyledText, Suggestion, ValidationResult, Validator, default_emacs_keybindings,
};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Statements that the history has.
const HISTORY: usize = 10_000;
/// Suggestions that are shown.
const SUGGESTIONS: usize = 40;
const MENU: &str = "completion";

/// What completes: shared by the editor, which asks, and the session, which knows what has changed.
#[derive(Clone)]
pub struct Help(Arc<Mutex<Helped>>);

struct Helped {
    target: String,
    login: crate::args::LoginArgs,
    /// None after a change of the data.
    source: Option<Source>,
    prefixes: Vec<Prefix>,
}

impl Help {
    pub fn open(args: &ShellArgs, prefixes: &KeptPrefixes) -> anyhow::Result<Self> {
        let target = args.database.to_string_lossy().into_owned();
        let (login, prefixes) = (args.login.clone(), prefixes.known());
        Ok(Self(Arc::new(Mutex::new(Helped { target, login, source: None, prefixes }))))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Helped) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The data is to be looked at anew.
    pub fn forget(&self) {
        self.with(|helped| helped.source = None);
    }

    /// These prefixes are kept now.
    pub fn keep(&self, prefixes: &KeptPrefixes) {
        self.with(|helped| helped.prefixes = prefixes.known());
    }
}

impl Helped {
    fn complete(&mut self, text: &str, position: usize) -> Vec<Suggestion> {
        if self.source.is_none() {
            self.source = Source::at(Some(&self.target), &self.login).ok();
        }
        let Some(source) = &self.source else { return Vec::new() };
        let whole = lode_assist::with_prefixes(text, &self.prefixes, false);
        let line = whole.len() - text.len();
        let units = |text: &str| text.encode_utf16().count();
        let before = units(whole.get(..line + position).unwrap_or(&whole));
        let Ok(found) = source.complete(&whole, before, SUGGESTIONS) else { return Vec::new() };
        // Places are in UTF-16, and of the text with the line of prefixes.
        let place = |at: usize| {
            let mut left = at;
            let chars = whole.char_indices().find(|(_, c)| {
                let is_there = left == 0;
                left = left.saturating_sub(c.len_utf16());
                is_there
            });
            chars.map_or(whole.len(), |(at, _)| at).saturating_sub(line).min(text.len())
        };
        let (start, end) = (place(found.from), place(found.to).max(position));
        let span = Span { start: start.min(position), end };
        let suggestion = |item: lode_assist::Item| Suggestion {
            display_override: (item.label != item.insert).then_some(item.label),
            value: item.insert,
            description: item.detail,
            span,
            ..Suggestion::default()
        };
        found.items.into_iter().map(suggestion).collect()
    }

    fn behind_command(&mut self, line: &str, position: usize) -> Vec<Suggestion> {
        let typed = line.get(..position).unwrap_or(line);
        let kept: Vec<String> = self.prefixes.iter().map(|prefix| prefix.name.clone()).collect();
        match argument(typed, &kept) {
            None => Vec::new(),
            Some(Argument::Words { from, words }) => {
                let suggestion = |value: String| Suggestion {
                    // Folders go on.
                    append_whitespace: !value.trim_end_matches('"').ends_with('/'),
                    value,
                    span: Span { start: from, end: position },
                    ..Suggestion::default()
                };
                words.into_iter().map(suggestion).collect()
            }
            // Completed as if it stood behind that beginning.
            Some(Argument::Statement { from, before }) => {
                let text = format!("{before}{}", line.get(from..).unwrap_or(""));
                let mut found = self.complete(&text, (before.len() + position).saturating_sub(from));
                let place = |at: usize| (at + from).saturating_sub(before.len()).max(from);
                for suggestion in &mut found {
                    suggestion.span =
                        Span { start: place(suggestion.span.start), end: place(suggestion.span.end) };
                }
                found
            }
        }
    }
}

impl Completer for Help {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let typed = line.get(..position).unwrap_or(line);
        if typed.starts_with('.') && !typed.contains(char::is_whitespace) {
            let fitting = COMMANDS.iter().filter(|(name, ..)| name.starts_with(typed));
            let suggestion = |(name, takes, does): &(&str, &str, &str)| Suggestion {
                value: (*name).to_owned(),
                description: Some((*does).to_owned()),
                span: Span { start: 0, end: position },
                append_whitespace: !takes.is_empty(),
                ..Suggestion::default()
            };
            return CompletionResult::fresh(fitting.map(suggestion).collect::<Vec<_>>());
        }
        if !is_command(line) {
            return CompletionResult::fresh(self.with(|helped| helped.complete(line, position)));
        }
        CompletionResult::fresh(self.with(|helped| helped.behind_command(line, position)))
    }
}

struct Colours;

impl Highlighter for Colours {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut styled = StyledText::new();
        if is_command(line) && !line.starts_with(".explain ") {
            styled.push((Color::Cyan.normal(), line.to_owned()));
            return styled;
        }
        let mut end = 0;
        for (span, kind) in pieces(line) {
            let (Some(between), Some(piece)) = (line.get(end..span.start), line.get(span.clone())) else {
                continue;
            };
            styled.push((Style::new(), between.to_owned()));
            styled.push((style(kind), piece.to_owned()));
            end = span.end;
        }
        styled.push((Style::new(), line.get(end..).unwrap_or("").to_owned()));
        styled
    }
}

fn style(kind: PieceKind) -> Style {
    match kind {
        PieceKind::Word => Color::Blue.bold(),
        PieceKind::Variable => Color::Cyan.normal(),
        PieceKind::Iri | PieceKind::Name => Color::Magenta.normal(),
        PieceKind::Text => Color::Green.normal(),
        PieceKind::Number => Color::Yellow.normal(),
        PieceKind::Comment => Style::new().dimmed(),
        PieceKind::Wrong => Color::Red.underline(),
        PieceKind::Mark => Style::new(),
    }
}

struct Ends;

impl Validator for Ends {
    fn validate(&self, line: &str) -> ValidationResult {
        if is_complete(line) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

/// What stands before what is typed.
pub struct Question;

impl Prompt for Question {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "lode".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "   -> ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!(" (search: {}) ", search.term).into()
    }
}

/// The editor. A history that cannot be kept is told, and not kept.
pub fn editor(help: &Help, args: &ShellArgs) -> anyhow::Result<Reedline> {
    let mut keys = default_emacs_keybindings();
    let tab = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(tab));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(1);
    let mut editor = Reedline::create()
        .with_completer(Box::new(help.clone()))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_highlighter(Box::new(Colours))
        .with_validator(Box::new(Ends))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(SilentMenu(menu))))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_ansi_colors(std::env::var_os("NO_COLOR").is_none())
        .use_bracketed_paste(true);
    let history = if args.no_history { Ok(None) } else { state::history() };
    match history.map(|path| path.map(|path| FileBackedHistory::with_file(HISTORY, path))) {
        Ok(Some(Ok(history))) => editor = editor.with_history(Box::new(history)),
        Ok(Some(Err(error))) => say!("no history is kept: {error}"),
        Err(error) => say!("no history is kept: {error:#}"),
        Ok(None) => {}
    }
    Ok(editor)
}
