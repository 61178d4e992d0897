import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../support/api.ts'
import { Workshop } from '../support/daemon.ts'
import { type Finished, Program, until } from '../support/processes.ts'
import { runScript, sourceUrl } from '../support/script.ts'
import { ROOT } from '../support/source-tree.ts'

const SOURCES = ['amm', 'config', 'consensus', 'marketplace', 'mempool', 'miner', 'rpc', 'src']
const MANIFESTS = ['package.json', 'package-lock.json']
/** Packages and folders that an installation without development tools lacks. */
const TOOLS = ['esbuild', '@esbuild', '.bin', '.cache', '.farthing', '.package-lock.json']

const workshop = new Workshop()
const copy = workshop.folder()
const packages = join(copy, 'node_modules')
const bundle = join(packages, '.farthing')
const launcher = join(copy, 'src/farthing.cjs')
const sources = join(copy, 'src/main.ts')

/** Installs the program beside the packages of this repository, as `npm ci --omit=dev` does. */
beforeAll(() => {
  for (const name of SOURCES) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  for (const name of MANIFESTS) cpSync(join(ROOT, name), join(copy, name))
  mkdirSync(packages)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!TOOLS.includes(name)) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
})

function buildNode(): Promise<Finished> {
  return workshop.run([], { entry: join(copy, 'src/package/build-node.ts') })
}

const help = (entry = launcher): Promise<Finished> => workshop.run(['help', 'start'], { entry })

it('an installation without esbuild makes no bundle, says so, and runs its sources', async () => {
  expect(await buildNode()).toMatchObject({ code: 0, stderr: expect.stringMatching(/esbuild is not installed/) })
  expect(existsSync(bundle)).toBe(false)
  const { code, stdout } = await help()
  expect([code, stdout]).toEqual([0, (await help(sources)).stdout])
})

describe('with esbuild', () => {
  beforeAll(async () => {
    symlinkSync(join(ROOT, 'node_modules/esbuild'), join(packages, 'esbuild'))
    expect(await buildNode()).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    '--version',
    'help',
    'start --help',
    'config print --json --rpc-port 8500',
    'config print --rpc-prot 8500',
    'strat',
    'wallet address --json',
    'call node-network-stats --rpc http://127.0.0.1:1',
  ])('the bundle says the same as the sources to %s', async (line) => {
    const args = line.split(' ')
    const words = ['--version', 'help', '--help'].some((word) => args.includes(word))
      ? args
      : [...args, '--data-dir', join(copy, 'data')]
    const [bundled, plain] = [
      await workshop.run(words, { entry: launcher }),
      await workshop.run(words, { entry: sources }),
    ]
    expect(bundled).toEqual(plain)
  })

  it('a node starts from the bundle with its threads, and stops', async () => {
    const folder = workshop.folder()
    appendFileSync(join(bundle, 'main.js'), "console.log('the bundle')\n")
    const flags = ['start', '--mine-threads', '1', '--rpc-port', '0', '--data-dir', folder]
    // Without the tests' own cache of compiled code, the program uses the one in its bundle.
    const env = { NODE_COMPILE_CACHE: '' }
    const daemon = await workshop.ready(workshop.launch(flags, { entry: launcher, env }), folder)
    const height = async () => (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height
    await until('a block', async () => (await height()) > 0)
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    expect(daemon.program.stdout).toContain('the bundle')
    expect(existsSync(join(bundle, 'compiled'))).toBe(true)
  })

  describe('that is marked', () => {
    const marked = async (): Promise<boolean> => {
      const { code, stdout } = await help()
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^(the bundle\n$|Usage: farthing start)/)])
      return stdout.startsWith('the bundle')
    }

    beforeAll(() => writeFileSync(join(bundle, 'main.js'), "console.log('the bundle')\n"))

    it('it runs while the sources are as they were, whatever their times', async () => {
      expect(await marked()).toBe(true)
      utimesSync(sources, 1, 1)
      expect(await marked()).toBe(true)
    })

    it.each(['src/main.ts', 'consensus/chain/params.ts', 'src/workers/engine-process.ts', 'package.json'])(
      'a change to %s has the sources run',
      async (path) => {
        appendFileSync(join(copy, path), '\n')
        expect(await marked()).toBe(false)
        cpSync(join(ROOT, path), join(copy, path))
        expect(await marked()).toBe(true)
      },
    )

    it('a change that keeps size and time of the content is seen', async () => {
      const path = join(copy, 'consensus/chain/params.ts')
      const text = readFileSync(path, 'utf8')
      const { atime, mtime } = statSync(path)
      writeFileSync(path, `${text.slice(0, -1)} `)
      utimesSync(path, atime, mtime)
      expect(await marked()).toBe(false)
      writeFileSync(path, text)
      expect(await marked()).toBe(true)
    })

    it('a list of sources without the program is not believed', async () => {
      const path = join(bundle, 'sources.json')
      const list = readFileSync(path, 'utf8')
      for (const wrong of ['[]', '{}', '', '[["package.json"]]']) {
        writeFileSync(path, wrong)
        expect(await marked()).toBe(false)
      }
      writeFileSync(path, list)
      expect(await marked()).toBe(true)
    })

    it('so has a source that is gone, and a bundle made anew has the change', async () => {
      const gone = 'src/engines/pages/meta.ts'
      rmSync(join(copy, gone))
      expect(await marked()).toBe(false)
      cpSync(join(ROOT, gone), join(copy, gone))
      expect(await marked()).toBe(true)
      appendFileSync(join(copy, 'src/cli/commands/start.ts'), "startCommand.flags['of-the-test'] = 'A new flag'\n")
      expect((await help()).stdout).toContain('--of-the-test')
      expect(await buildNode()).toMatchObject({ code: 0 })
      expect((await help()).stdout).toContain('--of-the-test')
      writeFileSync(join(bundle, 'main.js'), "console.log('the bundle')\n")
      expect(await marked()).toBe(true)
    })

    it.each(['', '[', '{}'])('a list of sources that is %j has the sources run', async (text) => {
      writeFileSync(join(bundle, 'sources.json'), text)
      expect(await marked()).toBe(false)
    })
  })
})

describe('engines of a bundle', () => {
  const folder = join(ROOT, `node_modules/.cache/farthing-test-${process.pid}`)
  const entry = 'test/support/every-engine-entry.ts'

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('find their packages, fonts and native code, and do the same work', async () => {
    const bundling = runScript([
      `import { bundleProgram } from ${JSON.stringify(sourceUrl('src/package/build-node.ts'))}`,
      `await bundleProgram(${JSON.stringify(entry)}, ${JSON.stringify(folder)})`,
    ])
    expect(await bundling.finished()).toMatchObject({ code: 0, stderr: '' })
    const run = (path: string): Promise<Finished> => new Program({ entry: path, args: [] }).finished()
    const bundled = await run(join(folder, 'every-engine-entry.js'))
    const lines = bundled.stdout.trim().split('\n')
    expect(lines.filter((line) => !line.includes('{"ok":true'))).toEqual([])
    expect(lines).toHaveLength(14)
    expect(bundled).toEqual(await run(join(ROOT, entry)))
  })
})

it('a launcher that a launcher of too old a Node started starts none itself', async () => {
  const text = readFileSync(launcher, 'utf8')
  const tooHigh = join(copy, 'src/too-high.cjs')
  writeFileSync(tooHigh, text.replace('var NEEDED = 26', 'var NEEDED = 999'))
  expect(await workshop.run(['help'], { entry: tooHigh })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^farthing needs Node 999, this is v26[^\n]*npm ci[^\n]*\n$/),
  })
})
