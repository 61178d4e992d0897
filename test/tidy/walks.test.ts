import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/source-tree.ts'
import { entries, hops, missingSteps, type Walk, walksIn } from './walks.ts'

function textOf(path: string): string | undefined {
  const file = join(ROOT, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function walksOf(path: string): readonly Walk[] {
  return walksIn(textOf(path) ?? '')
}

test('every function that the walks of docs/architecture.md name is in its file', () => {
  expect(walksOf('docs/architecture.md').flatMap((walk) => missingSteps(walk, textOf))).toEqual([])
})

test('a walk is counted by its changes of file and folder', () => {
  const document = [
    '# Walks',
    '',
    '## One',
    '',
    '1. `a/one.ts`: `first`, which reads',
    '2. `a/one.ts`: `second`',
    '3. `a/two.ts`: `Third.#fourth`',
    '4. `b/three.ts`: `fifth`',
    '5. `a/one.ts`: `second`',
    '6. `no/step.ts` and more',
  ].join('\n')
  const [walk, ...others] = walksIn(document)
  expect(others).toEqual([])
  expect(walk).toMatchObject({ title: 'One', steps: { length: 5 } })
  expect(hops(walk!)).toBe(3)
  expect(entries(walk!, 'file')).toEqual({ 'a/one.ts': 2, 'a/two.ts': 1, 'b/three.ts': 1 })
  expect(entries(walk!, 'folder')).toEqual({ a: 2, b: 1 })
})

test('a step that its file does not have is told', () => {
  const text = [
    'export async function* there(): AsyncGenerator<void> {}',
    'export class Place {',
    '  async #inside<T>(work: () => T): Promise<void> {}',
    '  *steps() {}',
    '}',
  ].join('\n')
  const names = ['there', 'Place', 'Place.#inside', 'Place.steps', 'gone', 'Place.gone', 'Gone.steps', 'steps']
  const walk = { title: '', steps: names.map((name) => ({ path: 'a.ts', name })) }
  expect(missingSteps(walk, () => text)).toEqual(['a.ts: gone', 'a.ts: Place.gone', 'a.ts: Gone.steps', 'a.ts: steps'])
  expect(missingSteps(walk, () => undefined)).toHaveLength(names.length)
})

test('the walks before the house was rebuilt have the hops that a first reader counted, give or take one', () => {
  const counted = walksOf('test/tidy/walks-before.md').map((walk) => [walk.title, hops(walk)])
  expect(counted).toEqual([
    ['A paid call', 48],
    ['`POST /tx` to the record in LevelDB', 50],
    ['A gossiped block', 43],
  ])
})
