import { type FaultRow, later, sender, unblamed } from './fault-row.ts'

/** Faults of services, of payments in FAR and in stablecoins, and of facilitators. */
export const MARKET_FAULTS = {
  'service/not-found': sender('there is no service {serviceId} here'),
  'service/invalid-request': sender('unusable request: {reason}'),
  'service/unavailable': later('{serviceId} is unavailable: {reason}'),
  'service/failed': unblamed('{serviceId} failed: {reason}'),
  'service/timeout': unblamed('{serviceId} did not finish within {timeoutMs} ms'),
  'service/bad-result': unblamed('{serviceId} gave an unusable result: {reason}'),
  'service/interrupted': unblamed('{serviceId} was interrupted and is not safe to repeat'),
  'service/too-late': unblamed('{serviceId} was interrupted, and the deadline of its payment leaves no time for it'),

  'pay/not-found': later(
    'Do not pay again: the payment {txId} is neither in the chain nor in the mempool of this node yet; send its transaction, then make this call again with the same payment',
  ),
  'pay/unconfirmed': later(
    'Do not pay again: the payment {txId} has {confirmations} of {needed} confirmations; repeat this call with the same payment',
  ),
  'pay/held': later(
    'Do not pay again: the payment {txId} is good and nothing of it is used, but {reason}; repeat this call with the same payment',
  ),
  'pay/failed': unblamed(
    'the transaction {txId} was mined but failed ({outcome}): it is no payment, and only its fee was charged',
  ),
  'pay/mismatch': unblamed('the payment {txId} does not fit: {field} is {got}, expected {expected}. {refund}'),
  'pay/closed': unblamed('the escrow of the payment {txId} is closed: {end}'),
  'pay/too-late': unblamed(
    'the payment {txId} has too few blocks left before its deadline {deadline}, where it returns to the caller by itself',
  ),
  'pay/unused': sender('unusable request: {reason}. The payment {payment} was not used for it. {refund}'),
  'pay/secret-missing': sender('the payment {txId} is locked: send its secret as payment.secret'),
  'pay/already-redeemed': unblamed('the payment {txId} was used for another request'),
  'pay/refunded': unblamed(
    'the payment {txId} buys nothing any more: it was for another request, which failed, and {end}',
  ),
  'pay/result-expired': unblamed('the payment {txId} was redeemed, and its result is no longer kept'),

  'market/payout-unfunded': unblamed(
    'nothing is sold before the payout address {address} has coins: send it some, or mine to it; a node that still catches up may not have seen them yet',
  ),
  'market/shared-keys': unblamed(
    'another node of this devnet sells with the same development key, so this node sells nothing: a new --data-dir with --dev-key 3 (to 6) has its own key',
  ),
  'market/registration-failed': unblamed(
    'the registration of {part} was mined and failed with {outcome}; it is tried again in an hour',
  ),

  'market/claim-failed': unblamed('the chain refused a claim of the tab {tabId}: {outcome}'),
  'market/tab-receipts': unblamed(
    'receipt {n} of the tab {tabId} is missing or does not fit; what comes after it cannot be claimed',
  ),
  'market/claims-away': later(
    'the claim store of this node cannot be reached just now ({reason}). Do not pay again: nothing is lost, repeat this call with the same payment',
  ),
  'market/claims-unusable': unblamed('the claim store {place} cannot be used: {reason}; see market.claims-url'),

  'pay/unreadable': sender(
    'the payment in {where} cannot be read: {reason}. Nothing of it was used: do not pay again, send the same payment in the right form',
  ),
  'pay/no-offer': sender('No matching payment requirements: {field} is {got}, expected {expected}'),
  'pay/rail-closed': later('the stablecoin rail takes no payments now: {reason}'),

  'stable/refused': unblamed('the payment was refused: {reason}. Nothing was charged'),
  'stable/failing': later(
    'too many calls of this {who} failed lately: it is served again in {seconds} s. Nothing was charged',
  ),
  'stable/crowded': later(
    'too many payments that you sent were refused lately, or wait to be checked: try again in {seconds} s. Nothing was charged',
  ),
  'stable/unproven': later(
    "the signature is not of the payer's own key, and too many such payments were sent lately: try again in {seconds} s. Nothing was charged",
  ),
  'stable/used': unblamed('this authorization was used for another request; sign a new one for this'),
  'stable/key-used': unblamed(
    'this payment identifier or Idempotency-Key was used with another request; nothing was charged',
  ),
  'stable/under-way': later(
    'Do not pay again: the call with this authorization is under way; repeat it with the same payment',
  ),
  'stable/unsettled': later(
    'Do not pay again: whether this authorization was settled is not known yet; repeat this call with the same payment',
  ),
  'stable/delivered': unblamed(
    'this call was paid with {transaction} and its result was delivered. A settled authorization is public, so the result is repeated only with the payment identifier or Idempotency-Key of the first call',
  ),
  'stable/result-expired': unblamed('this call was paid with {transaction}, and its result is no longer kept'),
  'stable/owed': unblamed(
    'this authorization was settled without a delivery: {amount} {asset} are owed back to {payer} ({status})',
  ),
  'stable/refund-waits': unblamed(
    'a refund of {amount} units to {payer} is owed and there is no stable.refund-key-file: pay it, then run farthing refunds {id} --paid <transaction>',
  ),
  'stable/refund-refused': later('the refund of {amount} units to {payer} was refused: {reason}; it is tried again'),
  'stable/not-arrived': unblamed(
    'facilitator {facilitator} reported that {payer} paid {amount} units in {transaction}, which the chain of the token does not show: {reason}',
  ),
  'stable/facilitator': later('no facilitator could be reached: {detail}. Nothing was charged'),

  'tabcall/unconfirmed': later(
    'Do not pay again: the tab {tabId} has {confirmations} of {needed} confirmations that this call needs; repeat this call with the same payment',
  ),
  'tabcall/unknown': unblamed('there is no open tab {tabId} on the chain of this node. Nothing was charged'),
  'tabcall/foreign': unblamed('the tab {tabId} is with the agent {got}, this is {expected}. Nothing was charged'),
  'tabcall/receipt-key': unblamed(
    'the tab {tabId} was opened under another receipt key of this seller: close it, and open a new one. Nothing was charged',
  ),
  'tabcall/scheme': unblamed(
    'the voucher key of the tab {tabId} has a scheme that is not taken here. Nothing was charged',
  ),
  'tabcall/transaction': sender(
    'the transaction {txId} is neither the opening of the tab {tabId} nor a deposit to it. Nothing was charged',
  ),
  'tabcall/closing': unblamed('the tab {tabId} is being closed: open a new one. Nothing was charged'),
  'tabcall/expiring': unblamed(
    'the tab {tabId} ends at height {dueAt}, which is too near: open a new one. Nothing was charged',
  ),
  'tabcall/in-flight': later(
    '{most} calls on the tab {tabId} are under way, and no more are taken at once: try again when one has ended. Nothing was charged',
  ),
  'tabcall/unclaimed': later(
    'Do not pay again: so much is charged on the tab {tabId} that the seller claims it first; repeat this call with the same payment',
  ),
  'tabcall/too-many-failed': later(
    '{failed} calls on the tab {tabId} were free because they failed, and {most} are borne by now: wait ten minutes, or open a new tab. Nothing was charged',
  ),
  'tabcall/rolled-back': unblamed(
    'this seller lost what it noted of the tab {tabId} up to receipt {receipt}: it takes no calls until its claims on chain reach that receipt',
  ),
  'tabcall/seq-used': unblamed(
    'the number {seq} of the tab {tabId} is used for another call; the next is {nextSeq}. Nothing was charged',
  ),
  'tabcall/seq-window': unblamed(
    'the number {seq} of the tab {tabId} is too far ahead; the next is {nextSeq}. Nothing was charged',
  ),
  'tabcall/ceiling-low': unblamed(
    'the ceiling of the voucher does not cover what was charged and this call: sign a higher one with the number {nextSeq}. Nothing was charged',
  ),
  'tabcall/deposit-low': unblamed(
    'the deposit of the tab {tabId} does not cover what was charged and this call: add to it. Nothing was charged',
  ),
  'tabcall/signature': sender('the voucher is not signed by the voucher key of the tab {tabId} for this call'),
  'tabcall/failing': later(
    'too many vouchers with wrong signatures were sent lately: try again in {seconds} s. Nothing was charged',
  ),
  'tabcall/under-way': later(
    'Do not pay again: the call {seq} on the tab {tabId} is under way; repeat it with the same payment',
  ),
  'tabcall/result-expired': unblamed(
    'the call {seq} on the tab {tabId} was answered, and its result is no longer kept; its receipt is',
  ),
  'tabcall/query-time': sender('the time of the query differs from {nowMs} by more than {withinMs} ms'),
  'tabcall/query-signature': sender('the query is not signed by the voucher key of the tab {tabId}'),

  'channel/mismatch': sender('the channel is not one of this offer: {field} is {got}, expected {expected}'),
  'channel/signature': sender('the {what} is not signed by the key of the channel {channelId}. Nothing was charged'),
  'channel/ceiling': unblamed(
    'the voucher allows {maxClaimable} units in total, expected {expected}: sign the next one from the state of the channel in this answer. Nothing was charged',
  ),
  'channel/claimed': unblamed(
    'the voucher allows {maxClaimable} units in total, which are claimed already. Nothing was charged',
  ),
  'channel/balance': unblamed(
    'the voucher allows {maxClaimable} units in total, more than the channel {channelId} holds: deposit more. Nothing was charged',
  ),
  'channel/unknown': unblamed('the channel {channelId} holds nothing: open it with a deposit. Nothing was charged'),
  'channel/busy': later(
    'another call of the channel {channelId} is under way: repeat this one with the same payment when it has ended. Nothing was charged',
  ),
  'channel/closing': unblamed(
    'the payer has asked to withdraw from the channel {channelId}, so it pays for no more calls. Nothing was charged',
  ),
  'channel/deposit-low': unblamed('the deposit has {amount} units, the least is {least}. Nothing was charged'),
  'channel/deposit-time': unblamed(
    'the authorization of the deposit holds from {validAfter} to {validBefore}; it is {now} now, and the offer can be paid for {seconds} s. Nothing was charged',
  ),
  'channel/nothing-left': unblamed('the channel {channelId} has nothing left to refund: all is charged'),
  'channel/nothing-claimed': unblamed('nothing is claimed that is not paid out already'),
  'channel/unverified': later(
    'the state of the channel {channelId} cannot be read now: repeat this call with the same payment. Nothing was charged',
  ),
  'channel/chain-away': later('the chain of the token cannot be asked now: {detail}. Nothing was charged'),

  'facilitator/version': sender('x402Version is {got}; taken are 1 and 2'),
  'facilitator/scheme': sender('the scheme is {got}, this facilitator takes {expected}'),
  'facilitator/network': sender('the network is {got}, this facilitator serves {expected}'),
  'facilitator/requirements': sender('the payment requirements cannot be used: {field} {reason}'),
  'facilitator/service': unblamed('the agent {agentId} has published no service {serviceId}'),
  'facilitator/request-missing': sender(
    'the payment {txId} commits to its request: give the text as extra.request, or its hash as extra.requestHash and check the commitment yourself',
  ),
  'facilitator/settlement': sender('the settlement cannot be used: {field} {reason}'),
  'facilitator/not-settler': sender('{settler} is neither owner nor settler of {agentId}'),
  'facilitator/already-settled': unblamed('the payment {txId} was settled for another request of hash {requestHash}'),
  'facilitator/full': later('this facilitator keeps {count} settlements and takes no more now'),
  'facilitator/off': unblamed('this node is no facilitator'),
} as const satisfies Record<string, FaultRow>
