import { COUNT, type Route } from './route.ts'
import * as Type from './schema.ts'

/** The outcome of a trial: the result, or the error, and how long the service took. */
export const TRIAL = Type.Object({
  serviceId: Type.String(),
  request: Type.String(),
  ok: Type.Boolean(),
  durationMs: COUNT,
  result: Type.Optional(Type.Unknown({ description: 'The result that a caller would get' })),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Why a caller would be refunded or refused' },
    ),
  ),
})

/** The route with which the operator tries a service of the node. */
export const TRIAL_ROUTES = {
  tryService: {
    method: 'POST',
    path: '/api/v1/services/{serviceId}/trial',
    operationId: 'tryService',
    tag: 'operations',
    summary: 'Run a service without a payment',
    description:
      'For the operator: the service runs as for a caller, with the example where no request is given. Nothing is paid, claimed or written down. A service that cannot be sold, for example as it is not published yet, is tried all the same if it is ready.',
    operator: 'required',
    params: Type.Object({ serviceId: Type.String({ minLength: 1, maxLength: 64 }) }),
    body: Type.Object({ request: Type.Optional(Type.String({ maxLength: 131_072 })) }, { additionalProperties: false }),
    answers: { 200: { description: 'The outcome', schema: TRIAL } },
    errors: ['service/not-found'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
