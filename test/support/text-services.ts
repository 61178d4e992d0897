import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok } from '../../consensus/primitives/result.ts'
import type { Engines, EngineTask } from '../../marketplace/ports/engines.ts'
import type { ModelRequest, ModelRole, Models } from '../../marketplace/ports/models.ts'
import { notConfigured } from '../../marketplace/ports/readiness.ts'
import type { WebPage } from '../../marketplace/ports/web.ts'
import { runEngine } from '../../src/workers/engine-worker.ts'

/** The real engines, run on the thread of the test. */
export const ENGINES_HERE: Engines = {
  run: async (task, input) => {
    const outcome = await runEngine({ task, input })
    return 'refused' in outcome
      ? fail(fault('engine/refused', { reason: outcome.refused }))
      : ok(outcome.output as never)
  },
}

/** Engines that always fail and record their tasks. */
export function brokenEngines(): Engines & { readonly asked: EngineTask[] } {
  const asked: EngineTask[] = []
  return {
    asked,
    run: async (task) => {
      asked.push(task)
      return fail(fault('engine/killed'))
    },
  }
}

/** A model that has these roles, always answers this text (null: it fails) and records its requests. */
export function modelThatSays(
  answer: string | null,
  roles: readonly ModelRole[] = ['general'],
): Models & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, estimated: false }
  return {
    asked,
    readiness: (role) => (roles.includes(role) ? { available: true, engine: 'tiny-1' } : notConfigured('a model')),
    complete: async (request) => {
      asked.push(request)
      return answer === null
        ? fail(fault('model/cut', { backend: 'fake' }))
        : ok({ text: answer, model: 'tiny-1', backend: 'fake', finishReason: 'stop', usage })
    },
    picture: async () => fail(fault('model/none', { reason: 'this model writes' })),
  }
}

/** A fetched page of HTML. `parts` replace its fields. */
export function webPage(parts: Partial<WebPage>): WebPage {
  return {
    url: 'https://example.org/flood',
    finalUrl: 'https://www.example.org/flood',
    redirects: [],
    status: 200,
    contentType: 'text/html; charset=utf-8',
    mediaType: 'text/html',
    charset: 'utf-8',
    body: new Uint8Array(),
    truncated: false,
    etag: null,
    lastModified: null,
    storable: true,
    fetchedAtMs: Date.UTC(2026, 10, 20, 12),
    ...parts,
  }
}
