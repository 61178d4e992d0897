import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { ServiceContext } from '../../../marketplace/services/context.ts'
import { checkRequest, type ServiceDefinition } from '../../../marketplace/services/service.ts'
import { runService } from '../../../marketplace/till/workshop.ts'
import { PROFILES, type Profile, Upstream, type UpstreamHandler } from './upstream.ts'

/** Asks an upstream. It is opened anew for each profile. */
export interface Asker {
  readonly ask: (signal: AbortSignal) => Promise<Result<unknown>>
  readonly close?: () => void | Promise<void>
}

/** Facts about one adapter that the suite needs. */
export interface ProviderCase {
  /** Its name in settings. */
  readonly name: string
  readonly handler: UpstreamHandler
  /** Valid JSON (or XML) of another shape, if the generic one is not bad enough. */
  readonly wrongType?: UpstreamHandler
  /** Opens the asker. `url` is the upstream's base URL. */
  readonly open: (url: string) => Asker | Promise<Asker>
  /** The right answer, for `toEqual`. */
  readonly answer: unknown
  /** Most requests that a question may cause while all is well, without retries. */
  readonly hitsMax?: number
  /** Codes of faults that are allowed; default `provider/*`. */
  readonly faults?: RegExp
  /** Profiles under which the right answer may still come, because it does not need what fails. */
  readonly survives?: readonly Profile[]
}

const WELL: readonly Profile[] = ['ok', 'slow']
/** When the provider chain gives up: soon if no answer will come, else late enough for a slow machine. */
const PATIENCE_MS = { hang: 800, else: 20_000 }

/**
 * Tests one adapter against everything that an upstream can do. It must give the right answer while all is well and a
 * fault otherwise. It must never give a wrong value and never ask too often. It may throw only after its signal was
 * aborted, which this suite does after a while, as a provider chain does. One call in a test file is the whole test:
 *
 *     describeProvider({
 *       name: 'frankfurter',
 *       handler: frankfurterUpstream,            // in test/support/upstreams, where its documentation is cited
 *       open: (url) => ({ ask: (signal) => frankfurter({ url, ...parts }).ask(null, signal) }),
 *       answer: { base: 'EUR', rates: {...}, rateDate: '2026-11-20' },
 *     })
 */
export function describeProvider(provider: ProviderCase): void {
  const { name, answer, hitsMax = 1, faults = /^provider\// } = provider
  describe(`${name}, whatever its server does`, () => {
    let upstream: Upstream
    let asker: Asker
    beforeEach(async () => {
      const { handler, wrongType } = provider
      upstream = await Upstream.open({ handler, ...(wrongType !== undefined && { wrongType }) })
      asker = await provider.open(upstream.url)
    })
    afterEach(async () => {
      await asker.close?.()
      await upstream.close()
    })

    it.each(PROFILES)('%s', async (profile) => {
      upstream.profile = profile
      const said = await outcomeOf(asker, profile)
      if (WELL.includes(profile)) expect(said).toEqual({ answer })
      else if (!(provider.survives?.includes(profile) && 'answer' in said)) expect(said.code).toMatch(faults)
      else expect(said).toEqual({ answer })
      expect(upstream.count()).toBeLessThanOrEqual(WELL.includes(profile) ? hitsMax : hitsMax * 2)
    })

    it('no server there', async () => {
      await upstream.close()
      expect((await outcomeOf(asker, 'drop')).code).toMatch(faults)
    })
  })
}

interface Outcome {
  readonly answer?: unknown
  readonly code?: string
}

async function outcomeOf(asker: Asker, profile: Profile): Promise<Outcome> {
  const signal = AbortSignal.timeout(profile === 'hang' ? PATIENCE_MS.hang : PATIENCE_MS.else)
  try {
    const said = await asker.ask(signal)
    return said.ok ? { answer: said.value } : { code: said.fault.code }
  } catch (error) {
    if (signal.aborted) return { code: 'provider/timeout' }
    throw error
  }
}

/** A service with everything between it and the upstream. */
export interface ServiceCase {
  readonly service: ServiceDefinition
  readonly request: string
  readonly handler: UpstreamHandler
  readonly wrongType?: UpstreamHandler
  /** Makes the service's context with the real adapter against `url`. `stop` ends it. */
  readonly open: (
    url: string,
  ) => Promise<{ readonly context: ServiceContext; readonly stop: () => void | Promise<void> }>
  /** Checks the service's result while all is well. */
  readonly verify: (result: Readonly<Record<string, unknown>>) => void
  readonly hitsMax?: number
  readonly survives?: readonly Profile[]
}

/**
 * Tests a service and its real provider chain against everything that an upstream can do, in the order of the market:
 * read, ready, run, schema. It must give the right result or fail, which refunds the caller.
 */
export function describeService(one: ServiceCase): void {
  const { service, request, hitsMax = 4, survives = [] } = one
  describe(`${service.serviceId}, whatever its provider does`, () => {
    it.each(PROFILES)('%s', async (profile) => {
      const { handler, wrongType } = one
      const upstream = await Upstream.open({ handler, ...(wrongType !== undefined && { wrongType }) })
      const { context, stop } = await one.open(upstream.url)
      try {
        const input = checkRequest(service, request, context)
        if (!input.ok) throw new Error(faultMessage(input.fault))
        expect(service.ready(context)).toMatchObject({ available: true })
        const before = upstream.count()
        upstream.profile = profile
        const result = await runService(service, input.value, context)
        if (WELL.includes(profile) || (survives.includes(profile) && result.ok)) one.verify(resultOf(result))
        else expect(result.ok ? result.value : result.fault.code).toMatch(/^service\/(failed|timeout)$/)
        expect(upstream.count() - before).toBeLessThanOrEqual(hitsMax)
      } finally {
        await stop()
        await upstream.close()
      }
    })
  })
}

function resultOf(result: Result<string>): Readonly<Record<string, unknown>> {
  if (!result.ok) throw new Error(faultMessage(result.fault))
  return JSON.parse(result.value) as Readonly<Record<string, unknown>>
}
