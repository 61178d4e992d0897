import { FAILED_OUTSIDE } from '../../marketplace/till/failing-callers.ts'
import { CLAIM_ROWS_MAX } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import { CHANNEL_MOVES, CHANNEL_MOVES_OF_ALL } from '../../marketplace/till/rails/dollar/channel/funding.ts'
import { CHANNEL_QUESTIONS } from '../../marketplace/till/rails/dollar/channel/sightings.ts'
import { CONTRACT_QUESTIONS } from '../../marketplace/till/rails/dollar/contract-payers.ts'
import { CHECKS_WAITING_MAX } from '../../marketplace/till/rails/dollar/facilitators.ts'
import { NEWCOMERS } from '../../marketplace/till/rails/dollar/newcomers.ts'
import { FAILED_ANY, UNPAID_OF_CLIENT } from '../../marketplace/till/rails/dollar/payers.ts'

/** Bounds of the dollar rail, and of failed calls of both rails: name, value, unit, source file. */
export const DOLLAR_LIMITS: readonly (readonly [string, number, string, string])[] = [
  [
    'signatures of one dollar payer that facilitators are asked about for one client, where they are not of its own key',
    CONTRACT_QUESTIONS.ofPayer,
    'a minute',
    'marketplace/till/rails/dollar/contract-payers.ts',
  ],
  [
    'such signatures of all payers that have not paid lately',
    CONTRACT_QUESTIONS.ofAll,
    'a minute',
    'marketplace/till/rails/dollar/contract-payers.ts',
  ],
  [
    "payers of such signatures that the node of the token's chain is asked about",
    CONTRACT_QUESTIONS.ofCode,
    'a minute',
    'marketplace/till/rails/dollar/contract-payers.ts',
  ],
  [
    'refused dollar payments of a client, beside as many as it paid',
    NEWCOMERS.refused,
    'a minute',
    'marketplace/till/rails/dollar/newcomers.ts',
  ],
  [
    'the same while a facilitator takes few questions',
    NEWCOMERS.refusedWhileScarce,
    'a minute',
    'marketplace/till/rails/dollar/newcomers.ts',
  ],
  [
    'those of payers without the money, as the chain says',
    NEWCOMERS.short,
    'a minute',
    'marketplace/till/rails/dollar/newcomers.ts',
  ],
  [
    'open checks of a client for payers who have not paid lately',
    NEWCOMERS.atOnce,
    '',
    'marketplace/till/rails/dollar/newcomers.ts',
  ],
  [
    'balances of dollar payers that are asked for',
    NEWCOMERS.balances,
    'a minute',
    'marketplace/till/rails/dollar/newcomers.ts',
  ],
  [
    'failed dollar calls of a payer, beside as many as it paid',
    FAILED_ANY.ofPayer,
    '10 minutes',
    'marketplace/till/rails/dollar/payers.ts',
  ],
  [
    'failed dollar calls of a client, beside as many as it paid',
    FAILED_ANY.ofClient,
    '10 minutes',
    'marketplace/till/rails/dollar/payers.ts',
  ],
  [
    'those of a payer that reach out or use a model',
    FAILED_OUTSIDE.ofPayer,
    '10 minutes',
    'marketplace/till/failing-callers.ts',
  ],
  [
    'those of a client, beside as many as it paid',
    FAILED_OUTSIDE.ofClient,
    '10 minutes',
    'marketplace/till/failing-callers.ts',
  ],
  [
    'the same of calls paid in coins, beside good ones; a payer with more goes behind all others',
    FAILED_OUTSIDE.ofPayer,
    '10 minutes',
    'marketplace/till/failing-callers.ts',
  ],
  ['and of a client', FAILED_OUTSIDE.ofClient, '10 minutes', 'marketplace/till/failing-callers.ts'],
  [
    'works of a client whose settlement was refused or is open, beside as many as it paid',
    UNPAID_OF_CLIENT,
    '10 minutes',
    'marketplace/till/rails/dollar/payers.ts',
  ],
  [
    'dollar payments that wait to be checked by a facilitator',
    CHECKS_WAITING_MAX,
    '',
    'marketplace/till/rails/dollar/facilitators.ts',
  ],
  [
    'deposits and refunds of channels that a client may cause',
    CHANNEL_MOVES.most,
    'an hour',
    'marketplace/till/rails/dollar/channel/funding.ts',
  ],
  [
    'deposits of all channels that have paid little so far, those of the others, refunds of the former and of the latter: each',
    CHANNEL_MOVES_OF_ALL.most,
    'a minute',
    'marketplace/till/rails/dollar/channel/funding.ts',
  ],
  ['each of these at once', CHANNEL_MOVES_OF_ALL.atOnce, '', 'marketplace/till/rails/dollar/channel/funding.ts'],
  [
    'questions about channels that the chain or facilitators are asked at once',
    CHANNEL_QUESTIONS.atOnce,
    '',
    'marketplace/till/rails/dollar/channel/sightings.ts',
  ],
  ['and those that wait', CHANNEL_QUESTIONS.waitingMax, '', 'marketplace/till/rails/dollar/channel/sightings.ts'],
  ['channels of one claim', CLAIM_ROWS_MAX, '', 'marketplace/till/rails/dollar/channel/claimer.ts'],
]
