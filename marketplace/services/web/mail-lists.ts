/** Local parts that name a role, not a person: those of RFC 2142, and other common ones. */
const ROLES: ReadonlySet<string> = new Set(
  (
    'abuse accounts admin administrator all billing board career careers compliance contact contacts customerservice data ' +
    'dev devnull dns enquiries enquiry everyone feedback finance ftp ftpadmin ftproot hello help helpdesk hostmaster hr info ' +
    'inquiries inquiry invoice invoices it jobs legal list list-request listserv mail mailer-daemon maildaemon majordomo ' +
    'marketing media network news newsletter no-reply nobody noc noreply null office operations ops order orders ' +
    'personnel postmaster press privacy purchasing recruiting registrar root sales security service shop spam staff ' +
    'subscribe support sysadmin sys tech trouble undisclosed-recipients unsubscribe usenet uucp web webadmin webmaster ' +
    'welcome www'
  ).split(' '),
)

/** Domains that give free mailboxes to the public. */
const FREE: ReadonlySet<string> = new Set(
  (
    '126.com 139.com 163.com aim.com aol.com bigpond.com bluewin.ch bol.com.br btinternet.com comcast.net daum.net ' +
    'duck.com email.com fastmail.com fastmail.fm foxmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de ' +
    'gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it ' +
    'hushmail.com icloud.com inbox.com inbox.lv inbox.ru interia.pl laposte.net libero.it list.ru live.co.uk live.com ' +
    'live.de live.fr live.nl mac.com mail.com mail.de mail.ee mail.ru mailbox.org me.com msn.com naver.com o2.pl ' +
    'onet.pl op.pl orange.fr outlook.com outlook.de outlook.es outlook.fr pm.me posteo.de proton.me protonmail.ch ' +
    'protonmail.com qq.com rambler.ru rediffmail.com riseup.net rocketmail.com seznam.cz sina.com sohu.com startmail.com ' +
    't-online.de terra.com.br tuta.com tuta.io tutanota.com tutanota.de uol.com.br vk.com vodafone.it wanadoo.fr web.de wp.pl ' +
    'ya.ru yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it ' +
    'yandex.com yandex.ru yeah.net ymail.com zoho.com zohomail.com'
  ).split(' '),
)

/** Whether a local part names a role. The part after a + is ignored. */
export function isRoleAccount(local: string): boolean {
  const [name = ''] = local.toLowerCase().split('+')
  return ROLES.has(name)
}

/** Takes lower-case ASCII. The list is short, so false proves nothing. */
export function isFreeProvider(domain: string): boolean {
  return FREE.has(domain)
}
