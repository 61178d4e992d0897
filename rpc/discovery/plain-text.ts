/**
 * Escapes foreign text, each function for one format: names and descriptions from the configuration and the chain, and
 * the base URL from a header.
 */

/** Characters that a reader does not see: controls, format marks, fillers, line separators, and code points without a character. */
export const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Escapes for HTML and XML, in text and quoted attributes. Leaves out DEL and characters that XML cannot hold. */
export function escapeMarkup(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Escapes for Markdown within a line: nothing in the text begins a link, code, a tag or another line. */
export function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>|#]/g, '\\$&')
}

/** Writes text as inline code of Markdown. */
export function markdownCode(text: string): string {
  const line = oneLine(text)
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `\`${line}\`` : `${fence} ${line} ${fence}`
}

/** Escapes a URL for a line of text or a Markdown link. */
export function urlInText(url: string): string {
  return oneLine(url).replace(/[\s()<>\\`"]/g, (character) =>
    encodeURIComponent(character).replace('(', '%28').replace(')', '%29'),
  )
}

/** Quotes text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim()
}

/** The text without characters that XML cannot hold, and without DEL. Line breaks and tabs stay. */
function printable(text: string): string {
  return [...text.toWellFormed()].filter((character) => isPrinted(character.codePointAt(0) as number)).join('')
}

function isPrinted(code: number): boolean {
  return code === 9 || code === 10 || code === 13 || (code >= 32 && code !== 127 && code !== 0xfffe && code !== 0xffff)
}
