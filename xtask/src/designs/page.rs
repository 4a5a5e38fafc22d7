//! The page that lists the differences from the source designs.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::row::Design;

const PAGE: &str = "docs/source-designs.md";
const BEGIN: &str = "<!-- decisions: begin, written by `cargo xtask designs --write` -->";
const END: &str = "<!-- decisions: end -->";

/// Fails unless the page has exactly the decisions of the rows.
pub(super) fn check(root: &Path, designs: &[Design]) -> Result<()> {
    let text = std::fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    if render_page(&text, designs)? == text {
        return Ok(());
    }
    bail!("{PAGE} has other decisions than the rows: run `cargo xtask designs --write`")
}

/// Writes the decisions of the rows into the page.
pub(super) fn write(root: &Path, designs: &[Design]) -> Result<()> {
    let path = root.join(PAGE);
    let text = std::fs::read_to_string(&path).context(PAGE)?;
    Ok(std::fs::write(path, render_page(&text, designs)?)?)
}

fn render_page(text: &str, designs: &[Design]) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).with_context(|| format!("no line {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("no line {END}"))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", table(designs)))
}

fn table(designs: &[Design]) -> String {
    let mut lines = vec!["| design | promise | why it is otherwise |".to_owned(), "|---|---|---|".to_owned()];
    for design in designs {
        for row in design.sections.iter().flat_map(|section| &section.rows) {
            if let Some(why) = &row.decision {
                lines.push(format!("| {} | {} | {why} |", design.title, row.promise));
            }
        }
    }
    if lines.len() == 2 {
        return "None.\n".to_owned();
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_decisions_of_the_rows_and_keeps_its_other_words() {
        let rows = "title = \"A\"\n[[section]]\nname = \"s\"\n[[section.row]]\npromise = \"p\"\ndecision = \"Since.\"";
        let page = format!("# Page\n{BEGIN}\nold\n{END}\nrest\n");
        let text = render_page(&page, &[Design::read("a", rows).unwrap()]).unwrap();
        assert!(text.starts_with("# Page\n") && text.ends_with("\nrest\n"), "{text}");
        assert!(text.contains("| A | p | Since. |") && !text.contains("old"), "{text}");
        assert!(render_page("no marks", &[]).is_err());
    }
}
