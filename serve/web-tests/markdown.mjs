// Just enough Markdown for the mock's scripted answers. The real server has its own renderer and sanitiser.
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const inline = (text) =>
  escape(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');

/** @param {string} text @returns {string} */
export function render(text) {
  const html = [];
  for (const [index, part] of text.split("```").entries()) {
    if (index % 2) {
      const [language, ...lines] = part.split("\n");
      html.push(`<pre><code class="language-${escape(language || "text")}">${escape(lines.join("\n"))}</code></pre>`);
    } else for (const block of part.split(/\n{2,}/)) if (block.trim()) html.push(renderBlock(block.trim()));
  }
  return html.join("");
}

function renderBlock(block) {
  const lines = block.split("\n");
  if (lines.every((line) => line.startsWith("- ")))
    return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`;
  if (lines.every((line) => /^\d+\. /.test(line)))
    return `<ol>${lines.map((line) => `<li>${inline(line.replace(/^\d+\. /, ""))}</li>`).join("")}</ol>`;
  if (lines.length > 2 && lines.every((line) => line.startsWith("|"))) {
    const rows = lines.filter((_, index) => index !== 1).map((line) => line.split("|").slice(1, -1));
    return `<table><thead><tr>${rows[0].map((cell) => `<th>${inline(cell.trim())}</th>`).join("")}</tr></thead><tbody>${rows
      .slice(1)
      .map((row) => `<tr>${row.map((cell) => `<td>${inline(cell.trim())}</td>`).join("")}</tr>`)
      .join("")}</tbody></table>`;
  }
  const heading = block.match(/^(#{1,3}) (.*)$/);
  if (heading) return `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`;
  if (block.startsWith("> ")) return `<blockquote><p>${inline(block.slice(2))}</p></blockquote>`;
  return `<p>${inline(block)}</p>`;
}
