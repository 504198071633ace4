"""Hear a person asked for, and handed over to, in other languages than English."""

from __future__ import annotations

import re

_ASKED = re.compile(
    r"""
      \b(?:sprechen|reden|verbinden|verbinde|weiterleiten|durchstellen|spreche|rede)\b[^.!?\n]{0,40}\b(?:mensch(?:en)?|mitarbeiter\w*|berater\w*|person|vorgesetzt\w*|kundendienst|kundenservice|jemand\w*)\b
    | \b(?:mensch(?:en)?|mitarbeiter\w*|berater\w*|person|vorgesetzt\w*|kundendienst|kundenservice|jemandem)\b[^.!?\n]{0,25}\b(?:sprechen|reden|verbinden|verbunden|weitergeleitet|durchgestellt)\b
    | \b(?:parler|passer|discuter|transf[eé]rer|joindre|contacter|mettre\s+en\s+(?:relation|contact)|passez[-\s]moi|parle)\b[^.!?\n]{0,40}\b(?:conseill[eè]re?|humain|personne|agent|responsable|quelqu['\u2019]un|sup[eé]rieur|op[eé]rateur|repr[eé]sentant)\b
    | \b(?:hablar|hable|comunicar\w*|comun[ií]que\w*|p[aá]s(?:ar|e)me|contactar|transferir\w*|transfi[eé]r\w+|atienda)\b[^.!?\n]{0,40}\b(?:persona|human[oa]|agente|representante|asesor\w*|supervisor\w*|gerente|encargad[oa]|alguien|operador\w*)\b
    | \b(?:parlare|passarmi|mi\s+passi|contattare|trasferir\w*|parlo)\b[^.!?\n]{0,40}\b(?:operator[ei]|persona|uman[oa]|responsabile|qualcuno|consulente|supervisore)\b
    | \b(?:falar|conversar|passar|transferir|contatar|contactar|falo)\b[^.!?\n]{0,40}\b(?:atendente|pessoa|human[oa]|algu[eé]m|gerente|supervisor\w*|representante|operador\w*)\b
    | \b(?:spreken|praten|doorverbinden|doorverbonden|spreek)\b[^.!?\n]{0,40}\b(?:mens|medewerker|persoon|iemand|manager|leidinggevende)\b
    | \b(?:mens|medewerker|persoon|iemand|leidinggevende)\b[^.!?\n]{0,20}\b(?:spreken|praten|doorverbonden)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HINTS = (
    *("mensch", "mitarbeiter", "berater", "vorgesetzt", "kunden", "jemand", "conseill", "humain"),
    *("personne", "responsable", "quelqu", "sup", "op", "repr", "persona", "human", "agent"),
    *("asesor", "gerente", "encargad", "alguien", "uman", "responsabile", "qualcuno", "consulente"),
    *("atendente", "pessoa", "algu", "mens", "medewerker", "persoon", "iemand", "leidinggev"),
)
_VERBS = (
    *("sprech", "reden", "rede", "verbind", "verbund", "weiter", "durch", "parl", "pass", "discut"),
    *("joindre", "contact", "mettre", "habl", "comun", "pás", "pase", "transf", "atienda", "trasf"),
    *("contatt", "falar", "falo", "convers", "contat", "sprek", "spreek", "praten", "doorverb"),
)
_DENIED = re.compile(
    r"\b(?:nicht|kein\w*|ohne|statt|pas|sans|no|sin|non|senza|n[ãa]o|sem|niet|geen|zonder|habe\s+(?:schon|bereits)|j['\u2019]ai\s+d[ée]j[àa]|ya\s+habl[eé])\b[^.!?\n]{0,30}\Z",
    re.IGNORECASE,
)
_HANDED = re.compile(
    r"""
      \b(?:ich\s+)?(?:verbinde|leite|[uü]bergebe|stelle)\b[^.!?\n]{0,80}\b(?:mitarbeiter\w*|kolleg\w*|berater\w*|weiter|durch|menschen|kundenservice|team)\b
    | \b(?:mitarbeiter\w*|kolleg\w*|berater\w*)\b[^.!?\n]{0,30}\b(?:meldet|melden|kontaktier\w*|ruft)\b
    | \bje\s+(?:vous\s+)?(?:transf[eè]re|mets|passe)\b[^.!?\n]{0,80}\b(?:conseill[eè]re?|relation|contact|coll[eè]gue|agent|responsable|humain)\b
    | \bun\s+(?:conseiller|coll[eè]gue|agent)\b[^.!?\n]{0,30}\b(?:va|vous\s+(?:contactera|rappellera))\b
    | \b(?:le|te|lo|la)\s+(?:transfiero|comunico|paso|pongo)\b[^.!?\n]{0,60}\b(?:agente|persona|compa[nñ]er[oa]|asesor\w*|representante|humano|supervisor\w*)\b
    | \b(?:la|ti|le)\s+(?:trasferisco|passo|metto)\b[^.!?\n]{0,60}\b(?:operatore|collega|consulente|responsabile|persona)\b
    | \b(?:vou|estou|irei)\s+(?:te\s+|lhe\s+|o\s+|a\s+)?(?:transferi\w+|encaminha\w+|passa\w+|conecta\w+)\b[^.!?\n]{0,60}\b(?:atendente|pessoa|colega|humano|especialista|supervisor\w*)\b
    | \bik\s+(?:verbind|stuur|zet)\b[^.!?\n]{0,60}\b(?:medewerker|collega|door)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HANDED_HINTS = (
    *("verbind", "leite", "bergebe", "stelle ", "meldet", "melden", "kontaktier", " ruft"),
    *("je vous", "je transf", "je mets", "je passe", "un conseiller", "un coll", "un agent"),
    *("transfiero", "comunico", " paso ", " pongo ", "trasferisco", "passo", "metto"),
    *("vou ", "irei ", "estou ", "ik stuur", "ik zet"),
)


def person_asked_abroad(text: str) -> str:
    """Return the words that ask for a person in German, French, Spanish, Italian, Portuguese or Dutch.

    Empty when there are none, or they are denied in the same breath.
    """
    lowered = text.lower()
    if not (any(map(lowered.__contains__, _VERBS)) and any(map(lowered.__contains__, _HINTS))):
        return ""
    for found in _ASKED.finditer(text):
        if not _DENIED.search(text, max(0, found.start() - 50), found.start()):
            return found[0].strip()
    return ""


def hands_over_abroad(text: str) -> str:
    """Return the words with which an agent hands over in one of these languages; else empty."""
    lowered = text.lower()
    if not any(map(lowered.__contains__, _HANDED_HINTS)):
        return ""
    found = _HANDED.search(text)
    return found[0].strip() if found else ""
