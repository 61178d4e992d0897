import { beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail } from '../../../../consensus/primitives/result.ts'
import type { Outside } from '../../../../marketplace/ports/outside.ts'
import type { WebPage } from '../../../../marketplace/ports/web.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { checkRequest } from '../../../../marketplace/services/service.ts'
import { runService } from '../../../../marketplace/till/workshop.ts'
import { outsideOf } from '../../../support/outside.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { ask, resultOf, serviceNamed } from '../../../support/service-results.ts'
import { brokenEngines, ENGINES_HERE, webPage } from '../../../support/text-services.ts'

const ENGLISH =
  'The river flooded the old town on Monday night. Firefighters pumped water out of the cellars. The mayor said that the flood was terrible.'
const GERMAN =
  'Der Fluss hat in der Nacht die alte Stadt geflutet. Die Feuerwehr hat das Wasser aus den Kellern gepumpt. Niemand wurde verletzt.'

describe('a summary of a page', () => {
  let bare: ServiceContext
  beforeAll(async () => {
    bare = { ...(await emptyServiceChain()).context, outside: outsideOf({ engines: ENGINES_HERE }) }
  })
  const withParts = (parts: Partial<Outside>): ServiceContext => ({ ...bare, outside: outsideOf(parts) })
  const URL_TEXT = 'https://example.org/flood'
  const web = (parts: Partial<WebPage> = {}): Outside['web'] => ({
    readiness: () => ({ available: true, engine: 'web' }),
    check: (text) =>
      text.includes('private')
        ? fail(fault('web/refused', { reason: 'it is private' }))
        : { ok: true, value: new URL(text) },
    read: async () => ({ ok: true, value: webPage(parts) }),
  })
  /** Engines that return this text as the article of any page. */
  const articles = (text = ENGLISH): Outside['engines'] => ({
    run: async (task, input, signal) =>
      task === 'page/article'
        ? { ok: true, value: { text, truncated: false } as never }
        : await ENGINES_HERE.run(task, input, signal),
  })
  const failure = async (context: ServiceContext) => {
    const input = checkRequest(serviceNamed('node-summarize'), URL_TEXT, context)
    if (!input.ok) throw new Error('the request was refused')
    const result = await runService(serviceNamed('node-summarize'), input.value, context)
    return result.ok ? result.value : String(result.fault.detail.reason)
  }

  it('says where it was read', async () => {
    const context = withParts({ web: web(), engines: articles() })
    expect(await resultOf('node-summarize', ` ${URL_TEXT} `, context)).toMatchObject({
      engine: 'extractive-textrank',
      inputChars: ENGLISH.length,
      truncated: false,
      source: {
        name: 'www.example.org',
        url: 'https://www.example.org/flood',
        fetchedAt: '2026-11-20T12:00:00.000Z',
        stale: false,
      },
    })
  })

  it('asks the site for leave, and reads no more than it needs', async () => {
    const asked: unknown[] = []
    const reader: Outside['web'] = {
      ...web(),
      read: async (url, request) => {
        asked.push(url.href, request)
        return { ok: true, value: webPage({}) }
      },
    }
    await resultOf('node-summarize', URL_TEXT, withParts({ web: reader, engines: articles() }))
    expect(asked).toEqual([
      URL_TEXT,
      expect.objectContaining({ robots: true, tooLong: 'cut', bytesMax: 2 * 1024 * 1024 }),
    ])
  })

  it('fails, and is refunded, where the page cannot be read or its engine is ended', async () => {
    const unread = { ...web(), read: async () => fail(fault('web/timeout', { host: 'example.org' })) }
    expect(await failure(withParts({ web: unread, engines: articles() }))).toContain('did not answer in time')
    expect(await failure(withParts({ web: web(), engines: brokenEngines() }))).toContain('exceeded its limits')
  })

  it('says that the page was cut', async () => {
    expect(
      await resultOf('node-summarize', URL_TEXT, withParts({ web: web({ truncated: true }), engines: articles() })),
    ).toMatchObject({ truncated: true })
    const long = Array.from({ length: 2_000 }, (_, i) => `${i}. ${ENGLISH}`).join(' ')
    const result = await resultOf('node-summarize', URL_TEXT, withParts({ web: web(), engines: articles(long) }))
    expect(result).toMatchObject({ truncated: true, inputChars: 100_000 })
  })

  it('is refused before the payment while no page can be read, or not this one', async () => {
    expect(await ask('node-summarize', URL_TEXT, bare)).toMatchObject({
      refused: expect.stringContaining('no address can be read'),
    })
    // The URL may be fine: the caller did nothing wrong, and may ask again.
    expect(checkRequest(serviceNamed('node-summarize'), URL_TEXT, bare)).toMatchObject({
      fault: { code: 'service/unavailable', detail: { serviceId: 'node-summarize' } },
    })
    expect(serviceNamed('node-summarize').ready(bare)).toMatchObject({ available: true })
    expect(await ask('node-summarize', 'http://private/', withParts({ web: web() }))).toMatchObject({
      refused: expect.stringContaining('it is private'),
    })
  })

  it('fails, and is refunded, of pages without a text to shorten', async () => {
    const of = (parts: Partial<WebPage>, text?: string) =>
      failure(withParts({ web: web(parts), engines: articles(text) }))
    expect(await of({ status: 404 })).toContain('it has the status 404')
    expect(await of({ mediaType: 'image/png' })).toContain('it is image/png')
    expect(await of({ mediaType: '' })).toContain('of no known type')
    expect(await of({}, 'Only this. And that.')).toContain('fewer than three')
    expect(await of({}, GERMAN)).toContain('without a model only English is understood, not German')
    expect(await of({}, '')).toContain('fewer than three')
  })

  it('takes a text that begins with an address for a text', async () => {
    const text = `${URL_TEXT} says this. ${ENGLISH}`
    expect(await resultOf('node-summarize', text, bare)).toMatchObject({ inputChars: text.length })
  })
})
