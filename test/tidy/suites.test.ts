import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import config from '../../vitest.config.ts'
import { KINDS, LONG, LONG_PROJECTS, QUICK_PROJECTS, TIMED } from '../suites.ts'
import { ROOT, sourceFiles } from '../support/source-tree.ts'

/** The members of a Vitest project that these tests read. */
interface Project {
  readonly test: { readonly name: string; readonly include: readonly string[]; readonly exclude: readonly string[] }
}

const projects = (config.test?.projects ?? []) as unknown as readonly Project[]
/** `test/interop` is a package of its own. */
const files = sourceFiles(['test'])
  .map(({ path }) => path)
  .filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/interop/'))
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

function matches(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(path, glob))
}

function projectsIn(script: string): readonly string[] {
  return [...(scripts[script] ?? '').matchAll(/--project (\S+)/g)].map(([, name]) => name as string)
}

describe('suites', () => {
  it('the check sees the tests', () => {
    expect(files.length).toBeGreaterThan(600)
  })

  it('each test file belongs to exactly one project', () => {
    const owners = files.map((path) => ({
      path,
      projects: projects
        .filter(({ test: { include, exclude } }) => matches(path, include) && !matches(path, exclude))
        .map(({ test: { name } }) => name),
    }))
    expect(owners.filter((owner) => owner.projects.length !== 1)).toEqual([])
  })

  it('each project belongs to exactly one of npm test and npm run test:long', () => {
    const names = projects.map(({ test: { name } }) => name)
    expect([...QUICK_PROJECTS, ...LONG_PROJECTS].sort()).toEqual([...names].sort())
    expect(projectsIn('test')).toEqual(QUICK_PROJECTS)
    expect(projectsIn('test:long')).toEqual(LONG_PROJECTS)
  })

  it('each list names files that exist, and docs/testing.md says why each of them is long', () => {
    const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8')
    for (const glob of [...LONG, ...TIMED]) {
      const named = files.filter((path) => matchesGlob(path, glob))
      expect(named, glob).not.toEqual([])
      for (const path of named) expect(page, path).toContain(`\`${path.replace(/^test\/|\.test\.ts$/g, '')}\``)
    }
  })

  it('a file that replaces modules shares none with others', () => {
    const replacing = sourceFiles(['test']).filter(
      ({ path, text }) => files.includes(path) && /\bvi\.mock\(/.test(text),
    )
    expect(replacing.length).toBeGreaterThan(0)
    expect(replacing.filter(({ path }) => !path.startsWith('test/integration/')).map(({ path }) => path)).toEqual([])
  })

  it('no glob of a kind is without files', () => {
    for (const glob of Object.values(KINDS).flat())
      expect(
        files.some((path) => matchesGlob(path, glob)),
        glob,
      ).toBe(true)
  })
})
