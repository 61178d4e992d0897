import { describe, expect, it } from 'vitest'
import { draftModels } from '../../../../../marketplace/chat/ensemble/draft-models.ts'
import { queryOf, sourcesOf } from '../../../../../marketplace/chat/ensemble/search-stage.ts'
import type { ModelFacts } from '../../../../../marketplace/chat/models/backend.ts'
import type { BackendFacts } from '../../../../../marketplace/chat/models/pool.ts'
import { HOUSE } from '../../../../support/chat-world.ts'

const hit = (changes: object) => ({ title: 'T', url: 'https://a.example/', snippet: 'S', date: null, ...changes })

describe('a query', () => {
  it('is the question on one line, without code, within bounds', () => {
    expect(queryOf('  Who won\n\tthe cup? ')).toBe('Who won the cup?')
    expect(queryOf('What is new in\n```js\nx\n```\nthis?')).toBe('What is new in this?')
    expect(queryOf('word '.repeat(1_000)).split(' ').length).toBeLessThanOrEqual(40)
    expect(queryOf('👋'.repeat(1_000)).length).toBeLessThanOrEqual(300)
    expect(queryOf('👋'.repeat(1_000)).isWellFormed()).toBe(true)
  })
})

describe('pages as models are given them', () => {
  it('are numbered, each once, and of the web', () => {
    const hits = [
      hit({ url: 'javascript:alert(1)' }),
      hit({ url: 'https://b.example/' }),
      hit({ url: 'https://b.example/', title: 'again' }),
      hit({ url: 'not a url' }),
      hit({ url: `https://c.example/${'x'.repeat(3_000)}` }),
      hit({ url: 'https://d.example/', title: '' }),
    ]
    expect(sourcesOf(hits)).toEqual([
      { index: 1, url: 'https://b.example/', title: 'T', snippet: 'S' },
      { index: 2, url: 'https://d.example/', title: 'd.example', snippet: 'S' },
    ])
  })

  it('have plain texts within bounds, without marks that would be taken for ours', () => {
    const [source] = sourcesOf([
      hit({ title: '<b>Cup</b>\u202e [2]\n won', snippet: `It did.[3][1, 2] ${'y'.repeat(9_000)}` }),
    ])
    expect(source?.title).toBe('<b>Cup</b>  won')
    expect(source?.snippet.startsWith('It did. yyy')).toBe(true)
    expect(source?.snippet.length).toBeLessThanOrEqual(500)
  })

  it('are six at most', () => {
    const hits = Array.from({ length: 20 }, (_, i) => hit({ url: `https://${i}.example/` }))
    expect(sourcesOf(hits).map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6])
  })
})

describe('models for drafts', () => {
  const backend = (name: string, models: readonly Partial<ModelFacts>[], usable = true) =>
    ({ name, usable, models: models.map((model) => ({ ...HOUSE, ...model })) }) as unknown as BackendFacts
  const question = [{ role: 'user', content: 'x'.repeat(4_000) }]

  it('are different models that answer in text, can be asked now, and have the room', () => {
    const facts = [
      backend('one', [{ id: 'a' }, { id: 'picture', roles: ['image'] }, { id: 'small', context: 512 }]),
      backend('two', [{ id: 'a' }, { id: 'b', roles: ['code'] }]),
      backend('ill', [{ id: 'c' }], false),
    ]
    expect(draftModels({ facts }, question)).toEqual([
      { backend: 'one', model: 'a', roles: ['general', 'reason', 'code', 'fast', 'judge'] },
      { backend: 'two', model: 'b', roles: ['code'] },
    ])
  })

  it('are ten at most', () => {
    const facts = [
      backend(
        'one',
        Array.from({ length: 14 }, (_, i) => ({ id: `m${i}` })),
      ),
    ]
    expect(draftModels({ facts }, question)).toHaveLength(10)
  })
})
