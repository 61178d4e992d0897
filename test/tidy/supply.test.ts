import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
}

const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> }
const { optionalDependencies, allowScripts } = JSON.parse(read('package.json')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}
const locked = Object.entries(packages).filter(([path]) => path !== '')

describe('what npm brings', () => {
  test('every package is locked by a hash', () => {
    expect(locked.length).toBeGreaterThan(300)
    expect(locked.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([path]) => path)).toEqual([])
  })

  test('none runs a script when it is installed, which could bring what no hash covers', () => {
    const named = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path.split('/').at(-1))
    expect(named.filter((name) => allowScripts[name as string] !== false)).toEqual([])
    expect(Object.values(allowScripts)).not.toContain(true)
  })

  test('the Node of each system is a package of the lock, and the launcher knows the same ones', () => {
    const known = [...read('src/farthing.cjs').matchAll(/^ {2}'(?:darwin|linux|win32) \w+': '([a-z0-9-]+)',$/gm)]
    expect(known.map(([, name]) => name).sort()).toEqual(Object.keys(optionalDependencies).sort())
    const versions = Object.keys(optionalDependencies).map((name) => packages[`node_modules/${name}`]?.version)
    expect(new Set([...versions, ...Object.values(optionalDependencies)]).size).toBe(1)
    expect(versions[0]).toMatch(/^26\.\d+\.\d+$/)
    expect(Object.keys(packages)).not.toContain('node_modules/node')
  })
})

const SKIPPED = new Set(['node_modules', '.git', 'dist', 'coverage'])
const TEXTS = /\.(ts|cjs|md|json|html|css|sh|service)$/

function textsIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (SKIPPED.has(entry.name)) return []
    return entry.isDirectory() ? textsIn(path) : TEXTS.test(entry.name) ? [path] : []
  })
}

test('no text of ours has npx fetch a package of a stranger: its name can be taken outside of this folder', () => {
  const texts = textsIn('.').filter((path) => path !== 'test/tidy/supply.test.ts' && path !== 'CHANGELOG.md')
  expect(texts.length).toBeGreaterThan(1_000)
  const found = texts.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => /\bnpx (?!--no )/.test(line))
      .map((line) => `${path}: ${line.trim().slice(0, 120)}`),
  )
  expect(found).toEqual([])
})
