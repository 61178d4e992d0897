import { describe, expect, it } from 'vitest'
import { CitationFilter, citedText } from '../../../../../marketplace/chat/ensemble/citation-filter.ts'

const SOURCES = [1, 2, 3].map((index) => ({
  index,
  url: `https://page-${index}.example/`,
  title: `Page ${index}`,
  snippet: '',
}))

const cited = (text: string) => citedText(text, SOURCES).text

describe('marks of sources', () => {
  it.each([
    ['Paris [1].', 'Paris [1].'],
    ['Paris [0].', 'Paris .'],
    ['Paris [99][2]', 'Paris [2]'],
    ['Paris [4]', 'Paris '],
    ['[1][2][3][4]', '[1][2][3]'],
    ['so [1, 2] it is', 'so [1, 2] it is'],
    ['so [1, 9] it is', 'so [1] it is'],
    ['so [9, 3, 1] it is', 'so [3, 1] it is'],
    ['so [7; 8] it is', 'so  it is'],
    ['so [1-3] it is', 'so [1-3] it is'],
    ['so [2–5] it is', 'so [2, 3] it is'],
    ['so [1-999] it is', 'so [1, 2, 3] it is'],
    ['[[1]]', '[[1]]'],
    ['[[99]] gone', ' gone'],
    ['[[1] and more', '[[1] and more'],
    ['[[77] and more', '[ and more'],
    ['[ 2 ]', '[ 2 ]'],
    ['[001]', '[001]'],
    ['in [2024] they', 'in [2024] they'],
    ['a [link](https://x.example) [^1] [ ] [x] [-1] []', 'a [link](https://x.example) [^1] [ ] [x] [-1] []'],
    ['[1](https://evil.example)', '[1](https://evil.example)'],
    ['open [1', 'open [1'],
    ['open [', 'open ['],
    ['[1\n]', '[1\n]'],
  ])('%j becomes %j', (text, wanted) => {
    expect(cited(text)).toBe(wanted)
  })

  it.each([
    '`a[9]` stays',
    'x ``a[9] ` b[8]`` stays',
    '```js\na[9] = b[77]\n```\n',
    '~~~\na[9]\n~~~',
    '- item\n  ```\n  a[9]\n  ```',
    '````\n```\na[9]\n```\na[8]\n````',
    '```\nnever closed [9]\n[8]',
  ])('leaves code as it is: %j', (text) => {
    expect(cited(text)).toBe(text)
  })

  it('is not fooled by code that is none', () => {
    expect(cited('`a[9]` b[9]')).toBe('`a[9]` b')
    expect(cited('one ` alone\n[9]')).toBe('one ` alone\n')
    expect(cited('text ```js [9]\n[9]')).toBe('text ```js [9]\n')
    expect(cited('```\n[9]\n```\n[9]')).toBe('```\n[9]\n```\n')
    expect(cited('~~struck~~ [9]')).toBe('~~struck~~ ')
  })

  it('says where each mark stands in what is left', () => {
    const { text, citations } = citedText('A [9] b [2], c [1, 3] [2]. `[1]`', SOURCES)
    expect(text).toBe('A  b [2], c [1, 3] [2]. `[1]`')
    expect(citations.map(({ index, start, end }) => [index, text.slice(start, end)])).toEqual([
      [2, '[2]'],
      [1, '[1, 3]'],
      [3, '[1, 3]'],
      [2, '[2]'],
    ])
    expect(citations[0]).toMatchObject({ url: 'https://page-2.example/', title: 'Page 2' })
  })

  it('holds back no more than a mark that has begun', () => {
    const filter = new CitationFilter(SOURCES)
    expect(filter.push('so it is [')).toBe('so it is ')
    expect(filter.push('1')).toBe('')
    expect(filter.push('] and [a')).toBe('[1] and [a')
    expect(filter.push(`[${' '.repeat(60)}`)).toBe(`[${' '.repeat(60)}`)
    expect(filter.push('[9')).toBe('')
    expect(filter.end()).toBe('[9')
  })
})
