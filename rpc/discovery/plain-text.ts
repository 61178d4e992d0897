/**
 * Text that others wrote (names and descriptions from the configuration and the chain, the base address from a header), made
 * harmless for the format that it goes into.
 */

/** Controls (C0, C1, DEL), directions, joiners, fillers, separators of lines, halves of pairs, and what no font knows yet. */
export const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** For HTML and XML, in text and in quoted attributes. What XML cannot hold at all is left out. */
export function escapeMarkup(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** For Markdown, within a line: nothing of it begins a link, code, a tag or another line. */
export function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>|#]/g, '\\$&')
}

/** For Markdown code within a line. */
export function markdownCode(text: string): string {
  const line = oneLine(text)
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `\`${line}\`` : `${fence} ${line} ${fence}`
}

/** An address for a line of text or a link in Markdown. */
export function urlInText(url: string): string {
  return oneLine(url).replace(/[\s()<>\\`"]/g, (character) =>
    encodeURIComponent(character).replace('(', '%28').replace(')', '%29'),
  )
}

/** For a POSIX shell, as one word. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim()
}

/** Text without control characters, which neither XML nor a line can hold; breaks and tabs stay. */
function printable(text: string): string {
  return [...text.toWellFormed()].filter((character) => isPrinted(character.codePointAt(0) as number)).join('')
}

function isPrinted(code: number): boolean {
  return code === 9 || code === 10 || code === 13 || (code >= 32 && code !== 127 && code !== 0xfffe && code !== 0xffff)
}
