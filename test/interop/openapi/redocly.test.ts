import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'

const workshop = new Workshop()

const REDOCLY = join(import.meta.dirname, '../node_modules/.bin/redocly')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'openapi-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Lint {
  readonly totals: { readonly errors: number; readonly warnings: number }
  readonly problems: readonly { readonly ruleId: string; readonly message: string }[]
}

/** Findings of Redocly's recommended rules in a document. */
async function lint(document: string): Promise<Lint> {
  const path = join(folder, 'openapi.json')
  writeFileSync(path, document)
  const run = promisify(execFile)(REDOCLY, ['lint', path, '--extends=recommended', '--format=json'], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    maxBuffer: 1 << 26,
  }).catch((error: { stdout: string }) => error)
  const { stdout } = await run
  return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Lint
}

describe("Redocly's recommended rules", () => {
  it('have nothing against the committed document', async () => {
    const { totals, problems } = await lint(
      readFileSync(join(import.meta.dirname, '../../../rpc/openapi.json'), 'utf8'),
    )
    expect({ ...totals, problems }).toMatchObject({ errors: 0, warnings: 0, problems: [] })
  })

  it('have nothing against the document of a node that sells', async () => {
    const daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' } })
    const document = await until('its services are in the document', async () => {
      const text = await fetch(`${daemon.url}/openapi.json`).then((answer) => answer.text())
      return text.includes('call-node-network-stats') ? text : null
    })
    const { totals, problems } = await lint(document)
    expect({ ...totals, problems }).toMatchObject({ errors: 0, warnings: 0, problems: [] })
  })

  it('would be told: a broken document is not clean', async () => {
    const { totals } = await lint('{"openapi":"3.1.0","info":{},"paths":{"/a":{"get":{}}}}')
    expect(totals.errors).toBeGreaterThan(0)
  })
})
