import { describe, expect, it } from 'vitest'
import { plainText } from '../../../../../src/chat/engines/plain-text.ts'
import { EngineRefusal } from '../../../../../src/engines/refusal.ts'

const read = (text: string): string => plainText({ text }).text

describe('Markdown that is read out', () => {
  it.each([
    ['emphasis', 'Some *slanted* and __bold__ and ***both*** words', 'Some slanted and bold and both words'],
    ['struck-out words', 'Not ~~this~~ that', 'Not this that'],
    ['code in a line', 'Run `npm test` now', 'Run npm test now'],
    ['a fence', 'Before\n\n```ts\nlet a = *b*\n```\n\nafter', 'Before\n(code block)\nafter'],
    ['a fence of tildes that never ends', 'Before\n\n~~~\nlet a = 1', 'Before\n(code block)'],
    ['indented code', 'Before\n\n    let a = 1\n\nafter', 'Before\n(code block)\nafter'],
    ['a link', 'See [the *page*](https://example.com "title") there', 'See the page there'],
    ['a link by reference', 'See [the page][p] there\n\n[p]: https://example.com', 'See the page there'],
    ['an address alone', 'See <https://example.com/a> there', 'See https://example.com/a there'],
    ['a picture', 'A ![cat on a mat](cat.png) here', 'A cat on a mat here'],
    ['a picture in a link', '[![logo](a.png)](https://example.com)', 'logo'],
    ['markup', 'A <b>bold</b> word<br>and <!-- not this --> more', 'A bold word and more'],
    ['a block of markup', 'Before\n\n<div onclick="x">in\n<i>side</i></div>\n\nafter', 'Before\nin side\nafter'],
    ['what a page does not show', '<!-- a --> not\n\n<script>\nlet a = 1\n</script>\n\nSaid.', 'Said.'],
    ['signs that are no tags', '<p>1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['headings', '# One\n\n## Two?\n\nThree\n=====', 'One.\nTwo?\nThree.'],
    ['a list', '- one\n- two!\n  1. deep\n- **three**', 'one.\ntwo!\ndeep.\nthree.'],
    ['a quotation', '> quoted\n> on', 'quoted on'],
    ['a line between', 'one\n\n---\n\ntwo', 'one\ntwo'],
    ['broken lines', 'one\ntwo  \nthree\\\nfour', 'one two three four'],
    ['characters by name', 'AT&amp;T &copy; &#65;', 'AT&T © A'],
    ['what only looks like marks', '2 * 3 * 4 = 24 in snake_case_name', '2 * 3 * 4 = 24 in snake_case_name'],
    ['no text', '', ''],
  ])('%s', (_, markdown, spoken) => {
    expect(read(markdown)).toBe(spoken)
  })

  it('a table row by row', () => {
    expect(read('| City | *Rain* |\n|---|--:|\n| Bergen | 2,250 mm |\n| Lima | |')).toBe(
      'City, Rain.\nBergen, 2,250 mm.\nLima.',
    )
  })

  it('words at any depth', () => {
    expect(read(`${'> '.repeat(500)}deep`)).toBe('deep')
    expect(read(`${'*a '.repeat(500)}deep${'*'.repeat(500)}`)).toContain('deep')
  })

  it('but nothing that is longer than is spoken', () => {
    expect(() => read('a '.repeat(16_385))).toThrow(EngineRefusal)
  })
})
