/* texts: literal words, interned and shared by all servers of a run, so that a command is plain
 * data: an argument holds an id, may be kept as long as one likes, and costs nothing to copy. Ids
 * are dense and start at 1; 0 is "no text". The words that the engine itself writes or reads have
 * fixed ids, in the order of WORD_LIST, and are there from the start; a word typed in another case
 * has another id and is compared by text_is. Nothing is ever dropped. */
#ifndef LAPSE_CORE_TEXTS_H
#define LAPSE_CORE_TEXTS_H

#include "base.h"

typedef uint32_t text_id;
#define TEXT_NONE ((text_id)0)

#define WORD_LIST(X)                                                                               \
    X(SET)                                                                                         \
    X(GET)                                                                                         \
    X(DEL)                                                                                         \
    X(UNLINK)                                                                                      \
    X(PEXPIREAT)                                                                                   \
    X(PERSIST) X(SELECT) X(MULTI) X(EXEC) X(PING) X(REPLCONF) X(GETACK) X(ACK) X(EX) X(PX) X(EXAT) \
        X(PXAT) X(KEEPTTL) X(NX) X(XX) X(GT) X(LT) X(MATCH) X(COUNT) X(TYPE) X(SYNC) X(ASYNC)      \
            X(FLUSHALL) X(FLUSHDB) X(INCR) X(SETEX) X(PSETEX) X(EXPIRE) X(PEXPIRE) X(EXPIREAT)     \
                X(GETEX) X(GETDEL)

enum word {
    WORD_NONE = 0,
#define X(word) WORD_##word,
    WORD_LIST(X)
#undef X
        WORD_ping, /* the server writes this one in lower case (7.0) */
    WORD_STAR,     /* "*", as in REPLCONF GETACK * */
    WORDS_KNOWN
};

struct texts;

struct texts *texts_create(void);
void texts_destroy(struct texts *);

/* The id of these bytes, new or known. Bytes may hold anything, NULs too. */
text_id texts_intern(struct texts *, const char *bytes, size_t length);

const char *texts_bytes(const struct texts *,
                        text_id); /* NUL-terminated besides; valid as long as the texts are */
uint32_t texts_length(const struct texts *, text_id);

/* Same word, ASCII case apart. */
bool text_is(const struct texts *, text_id, enum word);

#endif
