import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'
import { mineWhile } from '../support/mine-by-hand.ts'
import { type Finished, PINNED_NODE } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'

/** A code block of the page. `path` names the file that the block is, or to which it adds a line; empty if it is no file. */
interface Block {
  readonly language: string
  readonly text: string
  readonly path: string
  readonly isLine: boolean
}

/** The test types, compiles and tests as a contributor does, which takes minutes on a busy machine. */
const MS_MAX = 900_000
const workshop = new Workshop()
const checkout = workshop.folder()
const home = workshop.folder()
const blocks = blocksOf(readFileSync(join(ROOT, 'docs/adding-a-service.md'), 'utf8'))
const [gen, tests, sale] = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)

/** Code blocks in order. The line before a block of code ends with the path of its file. */
function blocksOf(page: string): readonly Block[] {
  const found = page.matchAll(/([^\n]*(?:\n[^\n]+)?)\n\n```(\w+)\n(.*?\n)```/gs)
  return [...found].map(([, before = '', language = '', text = '']) => ({
    language,
    text,
    path: /`([^`]+)`:$/.exec(before)?.[1] ?? '',
    isLine: /\bline in `[^`]+`:$/.test(before),
  }))
}

/** Copies the repository's current files and links the installed packages. */
function copyRepository(): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const deleted = new Set(git('ls-files', '-z', '--deleted'))
  for (const path of git(...list).filter((each) => !deleted.has(each))) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(checkout, path))
  }
  // The copy builds its own bundle and leaves the repository's untouched.
  const packages = readdirSync(join(ROOT, 'node_modules')).filter((name) => name !== '.farthing' && name !== '.cache')
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of packages) symlinkSync(join(ROOT, 'node_modules', name), join(checkout, 'node_modules', name))
}

function git(...args: readonly string[]): readonly string[] {
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1_048_576 })
  return listed.split('\0').filter((path) => path !== '')
}

/** Writes a code block to its file. A single line becomes the last member of the object in the file. */
function apply({ path, text, isLine }: Block): void {
  const file = join(checkout, path)
  writeFileSync(file, isLine ? readFileSync(file, 'utf8').replace(/\}\n$/, `${text}}\n`) : text)
}

/** Runs a typed line in the checkout. */
function typed(line: string): Promise<Finished> {
  const PATH = `${dirname(PINNED_NODE)}:${process.env.PATH}`
  return workshop.run([line], { node: 'sh', entry: '-c', env: { HOME: home, PATH }, cwd: checkout })
}

async function succeeds(line: string): Promise<string> {
  const { code, stdout, stderr } = await typed(line)
  expect(code, `${line}\n${stdout}\n${stderr}`).toBe(0)
  return stdout
}

beforeAll(copyRepository)

it(
  'what the page says compiles, is formatted, passes the tests of services, and is sold',
  async () => {
    const files = blocks.filter(({ language }) => language === 'ts')
    expect(files.map(({ isLine }) => isLine)).toEqual([false, true])
    files.forEach(apply)
    await succeeds(gen!)
    await succeeds(`npx --no biome check ${files.map(({ path }) => path).join(' ')} marketplace/services/table.ts`)
    await succeeds('npx --no tsc --noEmit')
    await succeeds(tests!)

    const daemon = await workshop.start(workshop.folder(), { entry: join(checkout, 'src/main.ts'), mine: 0 })
    const buy = `${sale!.trim()} --json --rpc ${daemon.url} --data-dir ${home} --dev-key 1`
    // Mining threads have the lowest priority: beside other tests they would find no block for minutes.
    const sold = await mineWhile(
      daemon.url,
      marketOpen(daemon.url).then(() => succeeds(buy)),
    )
    expect(JSON.parse(sold)).toMatchObject({
      result: { service: 'node-block-countdown', target: 2_000_000, height: expect.any(Number) },
      receipt: { serviceId: 'node-block-countdown' },
      verified: { paymentInBlock: true, headerWork: true, resultHash: true, receiptMatches: true, requestHash: true },
    })
  },
  MS_MAX,
)
