import { describe, expect, it } from 'vitest'
import { CitationFilter, citedText } from '../../../../../marketplace/chat/ensemble/citation-filter.ts'
import { filterFor } from '../../../../../marketplace/chat/ensemble/own-marks.ts'

const left = (text: string): string => citedText(text, []).text

describe('marks in an answer that no page stands behind', () => {
  it.each([
    ['Rome fell in 476 [1].', 'Rome fell in 476 .'],
    ['Rome fell in 476[1][2].', 'Rome fell in 476.'],
    ['Rome fell.[1] Then came others.[2]', 'Rome fell. Then came others.'],
    ['It is so [1], [2] and [3].', 'It is so ,  and .'],
    ['So it is [1], indeed', 'So it is , indeed'],
    ['Two say it [1, 2]. Three [1-3]. Four [2; 4]', 'Two say it . Three . Four '],
    ['**Bold** [1] and `code` [2]', '**Bold**  and `code` '],
    ['As noted in [1], it is so', 'As noted in , it is so'],
    ['The Senate ([1]) was old', 'The Senate () was old'],
    ['It is so [[1]].', 'It is so .'],
    ['So it is. [0] Yes', 'So it is.  Yes'],
    ['罗马灭亡了[1]。', '罗马灭亡了。'],
    ['Das Reich zerfiel [3]!', 'Das Reich zerfiel !'],
    ['It was so [1].\n\nSources:\n[1] A book\n- [2] A page', 'It was so .\n\nSources:\n A book\n-  A page'],
  ])('go: %j', (text, wanted) => {
    expect(left(text)).toBe(wanted)
  })

  it.each([
    'Read a[1] and nums[2], then rows[0].name',
    'The call f(x)[0] and grid[1][2]',
    'this.items[3] is user_1[0] of myList[2]',
    'word[1] = 5, word[2] + 1',
    'in `a [1]` and ``b [2]``',
    '```js\nlet a = b [1]\n```\n',
    'x lies in [1, 2], or in the interval [0, 1]',
    'x ∈ [1, 2], so x = [3]',
    'The list [5] and the array [1, 2]',
    'It returns [7]',
    'Output: [1, 2, 3]',
    '[1] Open the door\n[2] Go in',
    '- [1] first\n1. [2] second',
    'Choose option [2] or press [1]',
    'Read [1](https://a.example) first',
    '[1]: https://a.example',
    'A footnote [^1]',
    '$x [1]$ and $$\ny [2]\n$$ and \\(z [3]\\) and \\[\nw [4]\n\\]',
    'Escaped \\[1\\] stays',
    'From [1990] on, [x], [ ], []',
    'The rows [[1, 2], [3, 4]]',
    'Results: [3], [4]',
  ])('are not: %j', (text) => {
    expect(left(text)).toBe(text)
  })

  it('are told from money', () => {
    expect(left('It costs $5 [1], or $x [2]\nThen US$ [3]')).toBe('It costs $5 , or $x [2]\nThen US$ [3]')
  })

  it('keep lists whole in mathematics', () => {
    const filter = new CitationFilter([], { hasLists: true })
    expect(filter.push('The roots are there [1, 2]. So it is [3]. Indeed [4].') + filter.end()).toBe(
      'The roots are there [1, 2]. So it is [3]. Indeed .',
    )
  })

  it('come out however they are cut, and hold back little', () => {
    const filter = new CitationFilter([])
    expect(filter.push('It fell in 476 [')).toBe('It fell in 476 ')
    expect(filter.push('1')).toBe('')
    expect(filter.push(']')).toBe('')
    expect(filter.push('.')).toBe('')
    expect(filter.push(' And')).toBe('. And')
    expect(filter.push(' a[1] in [1, 2]')).toBe(' a[1] in [1, 2]')
    expect(filter.push(' word[1]')).toBe(' word')
    expect(filter.push(' = $')).toBe('[1] = ')
    expect(filter.end()).toBe('$')
  })
})

describe('marks that are the caller’s', () => {
  const user = (content: unknown) => [{ role: 'user', content }]
  it.each([
    ['a list of sources', user('[1] Gibbon: Decline\n[2] Heather: Fall\nWhy did Rome fall?')],
    ['a text with marks', user('Summarise: "Rome fell in 476.[1] Others say 480.[2]"')],
    ['an instruction', [{ role: 'system', content: 'Cite the documents.' }, ...user('Why did Rome fall?')]],
    ['a wish', user('Explain tides, with footnotes')],
    ['the result of a tool', [...user('Why did Rome fall?'), { role: 'tool', content: '[1] a page' }]],
    ['parts', user([{ type: 'text', text: 'Doc [1]: Rome. Why did it fall?' }])],
  ])('stay: %s', (_, messages) => {
    expect(filterFor({ messages })).toBeNull()
  })

  it.each([
    ['nothing of the kind', user('Why did Rome fall?')],
    ['an element of an array', user('What does a[1] mean in an essay?')],
    ['earlier answers alone', [{ role: 'assistant', content: 'It is so [1].' }, ...user('And why?')]],
    ['words that only look like it', user('Are you excited about the recital?')],
    ['a wish for pages that were to be searched for', user('Who won the cup today? Cite your sources.')],
  ])('are not: %s', (_, messages) => {
    expect(filterFor({ messages })).not.toBeNull()
  })
})
