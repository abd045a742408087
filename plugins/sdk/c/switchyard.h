// switchyard.h: Switchyard plugins in C (plugin ABI v1).
//
// ISO C11 with the attributes and builtins of Clang, for wasm32; no libc is needed,
// and one does no harm. A plugin is one source file that includes this header,
// describes itself, and normalizes a report:
//
//     #include "switchyard.h"
//
//     SY_DESCRIBE({
//       "name": "mine", "version": "1.0.0", "critic": "mine",
//       "formats": ["application/json"], "detect": ["/issues"], "items": ["/issues/*"]
//     })
//
//     static void normalize(sy_value report, sy_value config) { ... }
//
//     SY_NORMALIZE(normalize, "mine")
//
// The host has validated the report, so a value is the address of its first byte
// there, and reading means walking; check the types that you rely on, and nothing
// else. What goes into a finding is copied as it stands; only text that has escapes
// and must be compared is decoded. Memory only grows, because an instance serves
// one report. C strings that are passed as names, literals, codes and reasons must
// be ASCII without quotes and backslashes.
//
// Compiled for the machine at hand, where blocks come from calloc, a plugin can be
// tested under sanitizers and fuzzed like any other C.
#ifndef SWITCHYARD_H
#define SWITCHYARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every function of this header. The compiler judges which to inline: a small
   module matters more than a fast one, because its size is its start-up cost. */
#define SY_API static __attribute__((unused))

/* ------------------------------------------------------------- memory ---- */

/* Bytes behind every block that are zero, which no JSON token contains: the end
   of a number is found without asking where the report ends. */
#define SY_SLACK 16

#ifdef __wasm__

#define SY_EXPORT(name) __attribute__((export_name(name), used))

static unsigned char *sy_top;   /* The first free byte, on a 16 byte boundary. */
static unsigned char *sy_limit; /* The first byte that is not this heap's. */

#ifndef __wasi__
extern unsigned char __heap_base;
#endif

/* A new block of size bytes, all zero; NULL if there is no memory. */
SY_API unsigned char *sy_try_block(size_t size) {
  uint64_t need = ((uint64_t)size + SY_SLACK + 15) & ~(uint64_t)15;
#ifndef __wasi__
  /* What the linker has left over. A libc would have its own heap there, and leave
     us the pages that we grow. */
  if (!sy_limit) {
    sy_top = (unsigned char *)(((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15);
    sy_limit = (unsigned char *)((uintptr_t)__builtin_wasm_memory_size(0) << 16);
  }
#endif
  if ((uint64_t)(sy_limit - sy_top) < need) {
    size_t before = __builtin_wasm_memory_size(0);
    unsigned char *end = (unsigned char *)(before << 16);
    if (end != sy_limit) sy_top = end; /* What is new belongs to somebody else. */
    uint64_t pages = (need - (uint64_t)(end - sy_top) + 0xffff) >> 16;
    /* The last page of 4 GiB stays unused: its end would be 0. */
    if (before + pages > 0xffff) return NULL;
    if (__builtin_wasm_memory_grow(0, (size_t)pages) == (size_t)-1) return NULL;
    sy_limit = end + (size_t)(pages << 16);
  }
  unsigned char *block = sy_top;
  sy_top += (size_t)need;
  return block;
}

/* A block becomes larger, and may move. The youngest grows where it is. */
SY_API unsigned char *sy_regrow(unsigned char *block, size_t old_size, size_t size) {
  if (block + ((old_size + SY_SLACK + 15) & ~(size_t)15) == sy_top) sy_top = block;
  unsigned char *moved = sy_try_block(size);
  if (!moved) __builtin_trap();
  if (moved != block) __builtin_memcpy(moved, block, old_size);
  return moved;
}

#else

#include <stdlib.h>

#define SY_EXPORT(name)

SY_API unsigned char *sy_try_block(size_t size) { return calloc(size + SY_SLACK, 1); }

SY_API unsigned char *sy_regrow(unsigned char *block, size_t old_size, size_t size) {
  unsigned char *moved = sy_try_block(size);
  if (!moved) __builtin_trap();
  __builtin_memcpy(moved, block, old_size);
  free(block);
  return moved;
}

#endif

/* A new block of size bytes, all zero. Without memory the plugin traps, and the
   host says why. */
SY_API void *sy_block(size_t size) {
  unsigned char *block = sy_try_block(size);
  if (!block) __builtin_trap();
  return block;
}

/* ------------------------------------------------------------- values ---- */

/* A JSON value: the address of its first byte. NULL: there is no such value. */
typedef const unsigned char *sy_value;

/* Text in UTF-8, escapes decoded. */
typedef struct {
  const unsigned char *at;
  size_t length;
} sy_text;

SY_API bool sy_is_object(sy_value v) { return v && *v == '{'; }
SY_API bool sy_is_array(sy_value v) { return v && *v == '['; }
SY_API bool sy_is_string(sy_value v) { return v && *v == '"'; }
SY_API bool sy_is_filled(sy_value v) { return sy_is_string(v) && v[1] != '"'; }
SY_API bool sy_is_true(sy_value v) { return v && *v == 't'; }
SY_API bool sy_is_boolean(sy_value v) { return v && (*v == 't' || *v == 'f'); }

/* Whether a value is missing or null: not given, in either spelling. */
SY_API bool sy_is_absent(sy_value v) { return !v || *v == 'n'; }

/* The JSON type of a value, as people call it. */
SY_API const char *sy_kind(sy_value v) {
  if (!v) return "missing";
  switch (*v) {
    case '{': return "object";
    case '[': return "array";
    case '"': return "string";
    case 'n': return "null";
    case 't':
    case 'f': return "boolean";
    default: return "number";
  }
}

/* The first byte from at on that is no white space. */
SY_API sy_value sy_blank(sy_value at) {
  while (*at <= ' ') at++;
  return at;
}

/* The end of the string that starts at v. */
SY_API sy_value sy_string_end(sy_value v) {
  for (v++; *v != '"'; v++) {
    if (*v == '\\') v++;
  }
  return v + 1;
}

static sy_value sy_walked, sy_walked_end;

/* The first byte after v. The end of one container is remembered: a walk that ran
   to its end leaves its own there, so that the walk around it need not look at
   the same bytes again. */
SY_API sy_value sy_end(sy_value v) {
  if (*v == '"') return sy_string_end(v);
  if (v == sy_walked) return sy_walked_end;
  sy_value at = v;
  if (*v == '{' || *v == '[') {
    size_t depth = 0;
    do {
      if (*at == '"') {
        at = sy_string_end(at);
        continue;
      }
      /* A square bracket is its curly brother less 0x20. */
      if ((*at | 0x20) == '{') depth++;
      if ((*at | 0x20) == '}') depth--;
      at++;
    } while (depth);
    sy_walked = v;
    sy_walked_end = at;
    return at;
  }
  while (*at > ' ' && *at != ',' && (*at | 0x20) != '}') at++;
  return at;
}

SY_API uint32_t sy_hex4(const unsigned char *at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++) value = value << 4 | ((at[i] & 15u) + (at[i] > '9' ? 9u : 0u));
  return value;
}

SY_API unsigned char *sy_encode(unsigned char *to, uint32_t point) {
  if (point < 0x80) {
    *to++ = (unsigned char)point;
    return to;
  }
  if (point < 0x800) {
    *to++ = (unsigned char)(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      *to++ = (unsigned char)(0xe0 | point >> 12);
    } else {
      *to++ = (unsigned char)(0xf0 | point >> 18);
      *to++ = (unsigned char)(0x80 | (point >> 12 & 63));
    }
    *to++ = (unsigned char)(0x80 | (point >> 6 & 63));
  }
  *to++ = (unsigned char)(0x80 | (point & 63));
  return to;
}

/* Decodes what is between two quotes into memory of its own. The text becomes no
   longer by it. */
SY_API sy_text sy_decode(sy_value from, sy_value end) {
  unsigned char *start = sy_block((size_t)(end - from)), *to = start;
  while (from < end) {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    unsigned char escape = from[1];
    from += 2;
    switch (escape) {
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'n': *to++ = '\n'; break;
      case 'r': *to++ = '\r'; break;
      case 't': *to++ = '\t'; break;
      case 'u': {
        uint32_t point = sy_hex4(from);
        from += 4;
        if (point >> 10 == 0x36 && end - from >= 6) {
          /* The host refuses half a pair, so this is a whole one. */
          point = 0x10000 + ((point & 0x3ff) << 10) + (sy_hex4(from + 2) & 0x3ff);
          from += 6;
        }
        to = sy_encode(to, point);
        break;
      }
      default: *to++ = escape; /* a quote, a backslash or a slash */
    }
  }
  return (sy_text){start, (size_t)(to - start)};
}

/* What the string v says. It lies in the report, unless it has escapes. */
SY_API sy_text sy_read(sy_value v) {
  bool escaped = false;
  sy_value end = v + 1;
  for (; *end != '"'; end++) {
    if (*end == '\\') {
      escaped = true;
      end++;
    }
  }
  return escaped ? sy_decode(v + 1, end) : (sy_text){v + 1, (size_t)(end - v - 1)};
}

SY_API bool sy_text_is(sy_text text, const char *literal) {
  size_t i = 0;
  while (i < text.length && literal[i] && text.at[i] == (unsigned char)literal[i]) i++;
  return i == text.length && !literal[i];
}

SY_API bool sy_same_text(sy_text a, sy_text b) {
  if (a.length != b.length) return false;
  for (size_t i = 0; i < a.length; i++) {
    if (a.at[i] != b.at[i]) return false;
  }
  return true;
}

/* Whether v is a string that says literal. */
SY_API bool sy_says(sy_value v, const char *literal) {
  return sy_is_string(v) && sy_text_is(sy_read(v), literal);
}

/* A whole number from 0 to 2147483647, written in plain digits; -1 for anything
   else. 1.0 and 1e3 are numbers, too, but where a line or a round is meant they are
   a sign that something went wrong. */
SY_API int32_t sy_whole(sy_value v) {
  if (!v) return -1;
  size_t length = (size_t)(sy_end(v) - v);
  if (length > 10) return -1;
  uint64_t number = 0;
  for (size_t i = 0; i < length; i++) {
    if (v[i] < '0' || v[i] > '9') return -1;
    number = number * 10 + (v[i] - '0');
  }
  return number <= INT32_MAX ? (int32_t)number : -1;
}

/* ------------------------------------------------------ what is in it ---- */

/* A walk over an object's members:

       for (sy_members m = sy_members_of(finding); sy_next_member(&m);) {
         if (sy_key_is(&m, "line")) line = m.value;
       }
 */
typedef struct {
  sy_value value; /* The member's value, */
  sy_value key;   /* its key as it stands, */
  sy_text name;   /* and what that says. */
  sy_value object;
} sy_members;

/* A walk over an array's elements, alike. */
typedef struct {
  sy_value value;
  uint32_t index;
  sy_value array;
} sy_elements;

/* Starts a walk over an object; anything else has no members. */
SY_API sy_members sy_members_of(sy_value object) {
  return (sy_members){.object = sy_is_object(object) ? object : NULL};
}

SY_API sy_value sy_step(sy_value container, sy_value last) {
  sy_value at = sy_blank(last ? sy_end(last) : container + 1);
  if (*at == ',') at = sy_blank(at + 1);
  if ((*at | 0x20) != '}') return at;
  sy_walked = container;
  sy_walked_end = at + 1;
  return NULL;
}

SY_API bool sy_next_member(sy_members *m) {
  if (!m->object) return false;
  m->key = sy_step(m->object, m->value);
  if (!m->key) return false;
  m->name = sy_read(m->key);
  m->value = sy_blank(sy_blank(sy_string_end(m->key)) + 1);
  return true;
}

SY_API bool sy_key_is(const sy_members *m, const char *name) { return sy_text_is(m->name, name); }

/* Starts a walk over an array; anything else has no elements. */
SY_API sy_elements sy_elements_of(sy_value array) {
  return (sy_elements){.array = sy_is_array(array) ? array : NULL};
}

SY_API bool sy_next_element(sy_elements *e) {
  if (!e->array) return false;
  sy_value next = sy_step(e->array, e->value);
  if (!next) return false;
  e->index = e->value ? e->index + 1 : 0;
  e->value = next;
  return true;
}

/* The member called name; NULL if there is none, or if this is no object. */
SY_API sy_value sy_find(sy_value object, const char *name) {
  for (sy_members m = sy_members_of(object); sy_next_member(&m);) {
    if (sy_key_is(&m, name)) return m.value;
  }
  return NULL;
}

/* The number of members of an object, or of elements of an array. */
SY_API uint32_t sy_count(sy_value v) {
  uint32_t count = 0;
  for (sy_members m = sy_members_of(v); sy_next_member(&m);) count++;
  for (sy_elements e = sy_elements_of(v); sy_next_element(&e);) count++;
  return count;
}

/* ------------------------------------------------------------ writing ---- */

/* A growing run of bytes; all zero is an empty one. */
typedef struct {
  unsigned char *start;
  size_t length, room;
} sy_writer;

/* How much of a value a message shows, in bytes. */
#define SY_EXCERPT 200

SY_API void sy_put_bytes(sy_writer *w, const void *at, size_t length) {
  if (w->room - w->length < length) {
    uint64_t room = (uint64_t)w->room * 2;
    if (room < (uint64_t)w->length + length) room = (uint64_t)w->length + length;
    if (room < 1024) room = 1024;
    if (room > UINT32_MAX - 0x20000) __builtin_trap();
    w->start = w->start ? sy_regrow(w->start, w->room, (size_t)room) : sy_block((size_t)room);
    w->room = (size_t)room;
  }
  if (length) __builtin_memcpy(w->start + w->length, at, length);
  w->length += length;
}

SY_API size_t sy_length(const char *literal) {
  size_t length = 0;
  while (literal[length]) length++;
  return length;
}

/* Appends a literal as it stands. */
SY_API void sy_put(sy_writer *w, const char *literal) { sy_put_bytes(w, literal, sy_length(literal)); }

/* Appends all that another writer holds. */
SY_API void sy_put_writer(sy_writer *w, const sy_writer *other) { sy_put_bytes(w, other->start, other->length); }

/* Appends a number in digits. */
SY_API void sy_put_number(sy_writer *w, uint32_t number) {
  char digits[10];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  sy_put_bytes(w, digits + at, sizeof digits - at);
}

/* Appends a value as it stands in the report, or null where there is none. */
SY_API void sy_put_value(sy_writer *w, sy_value v) {
  if (v) {
    sy_put_bytes(w, v, (size_t)(sy_end(v) - v));
  } else {
    sy_put(w, "null");
  }
}

/* Appends what a string value says inside the quotes of another: as it stands,
   which loses nothing. */
SY_API void sy_put_inside(sy_writer *w, sy_value string) {
  sy_put_bytes(w, string + 1, (size_t)(sy_string_end(string) - string - 2));
}

/* Appends text inside quotes, with a backslash where JSON needs one. */
SY_API void sy_put_text(sy_writer *w, sy_text text) {
  static const char hex[] = "0123456789abcdef";
  size_t plain = 0; /* Where what is not yet appended starts. */
  for (size_t i = 0; i < text.length; i++) {
    unsigned char byte = text.at[i];
    if (byte >= ' ' && byte != '"' && byte != '\\') continue;
    char escape[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    sy_put_bytes(w, text.at + plain, i - plain);
    sy_put_bytes(w, escape, byte < ' ' ? sizeof escape : 1);
    plain = byte < ' ' ? i + 1 : i;
  }
  sy_put_bytes(w, text.at + plain, text.length - plain);
}

/* Appends a value's JSON inside quotes, for a message; what is long is cut between
   two characters. */
SY_API void sy_put_excerpt(sy_writer *w, sy_value v) {
  if (!v) {
    sy_put(w, "missing");
    return;
  }
  size_t length = (size_t)(sy_end(v) - v);
  bool cut = length > SY_EXCERPT;
  if (cut) {
    for (length = SY_EXCERPT; (v[length] & 0xc0) == 0x80;) length--;
  }
  sy_put_text(w, (sy_text){v, length});
  if (cut) sy_put(w, "...");
}

/* Appends a token to a JSON Pointer inside quotes: a/b becomes /a~1b. */
SY_API void sy_put_token(sy_writer *w, sy_text token) {
  sy_put(w, "/");
  for (size_t i = 0; i < token.length; i++) {
    switch (token.at[i]) {
      case '~': sy_put(w, "~0"); break;
      case '/': sy_put(w, "~1"); break;
      default: sy_put_text(w, (sy_text){token.at + i, 1});
    }
  }
}

/* Appends the key of the next member, and what stands before it. */
SY_API void sy_put_key(sy_writer *w, const char *name) {
  unsigned char last = w->length ? w->start[w->length - 1] : '{';
  sy_put(w, last == '{' || last == '[' ? "\"" : ",\"");
  sy_put(w, name);
  sy_put(w, "\":");
}

/* Appends a member. Its text is a literal; its value may be NULL for null. */
SY_API void sy_member_literal(sy_writer *w, const char *name, const char *literal) {
  sy_put_key(w, name);
  sy_put(w, "\"");
  sy_put(w, literal);
  sy_put(w, "\"");
}

SY_API void sy_member_text(sy_writer *w, const char *name, sy_text text) {
  sy_put_key(w, name);
  sy_put(w, "\"");
  sy_put_text(w, text);
  sy_put(w, "\"");
}

SY_API void sy_member_value(sy_writer *w, const char *name, sy_value value) {
  sy_put_key(w, name);
  sy_put_value(w, value);
}

/* ------------------------------------------------------------- answer ---- */

static sy_writer sy_findings, sy_skipped, sy_unmapped, sy_statements, sy_error, sy_draft;
static sy_value sy_critic, sy_task, sy_round;

/* The JSON Pointer of the item that the plugin is at; findings, skipped entries
   and errors take their ref from there. Enter and leave:

       size_t outside = sy_enter("items");
       for (...) { size_t inside = sy_enter_index(e.index); ...; sy_leave(inside); }
       sy_leave(outside);
 */
static sy_writer sy_path;

SY_API size_t sy_enter(const char *name) {
  size_t outside = sy_path.length;
  sy_put(&sy_path, "/");
  sy_put(&sy_path, name);
  return outside;
}

SY_API size_t sy_enter_index(uint32_t index) {
  size_t outside = sy_path.length;
  sy_put(&sy_path, "/");
  sy_put_number(&sy_path, index);
  return outside;
}

SY_API void sy_leave(size_t outside) { sy_path.length = outside; }

SY_API void sy_put_ref(sy_writer *w) {
  sy_put_key(w, "ref");
  sy_put(w, "\"");
  sy_put_writer(w, &sy_path);
  sy_put(w, "\"");
}

/* What the report says it is about: its critic, task and round, or NULL. */
SY_API void sy_about(sy_value critic, sy_value task, sy_value round) {
  sy_critic = critic;
  sy_task = task;
  sy_round = round;
}

/* Begins a finding at the path; its members are yours to write. Those of
   docs/plugin-abi.md that may be left out are, such as undoes. */
SY_API sy_writer *sy_begin_finding(void) {
  sy_put(&sy_findings, sy_findings.length ? ",{" : "{\"findings\":[{");
  return &sy_findings;
}

SY_API void sy_end_finding(void) {
  sy_put_ref(&sy_findings);
  sy_put(&sy_findings, "}");
}

/* Skips the item at the path. */
SY_API void sy_skip(const char *reason) {
  sy_put(&sy_skipped, sy_skipped.length ? ",{" : "{");
  sy_put_ref(&sy_skipped);
  sy_member_literal(&sy_skipped, "reason", reason);
  sy_put(&sy_skipped, "}");
}

/* Says what became of a finding of the previous review, for the item at the path: its
   fingerprint, each only once, and a status. The host refuses other values. */
SY_API void sy_previous(sy_value id, sy_value status) {
  sy_put(&sy_statements, sy_statements.length ? ",{" : "{");
  sy_put_ref(&sy_statements);
  sy_member_value(&sy_statements, "id", id);
  sy_member_value(&sy_statements, "status", status);
  sy_put(&sy_statements, "}");
}

/* Whether the answer is an error. The first one counts; loops ask and stop. */
SY_API bool sy_failed(void) { return sy_error.length > 0; }

/* Begins an error's message: one lower-case sentence without a full stop. */
SY_API sy_writer *sy_sentence(const char *literal) {
  sy_draft.length = 0;
  sy_put(&sy_draft, literal);
  return &sy_draft;
}

SY_API void sy_begin_error(const char *code, const sy_writer *message, const char *hint) {
  sy_put(&sy_error, "{\"error\":{");
  sy_member_literal(&sy_error, "code", code);
  sy_put_key(&sy_error, "message");
  sy_put(&sy_error, "\"");
  sy_put_writer(&sy_error, message);
  sy_put(&sy_error, "\"");
  if (*hint) sy_member_literal(&sy_error, "hint", hint);
}

/* Refuses the report, because the member (NULL: the value at the path itself) is
   found, which is NULL if it is missing. */
SY_API void sy_fail(const char *code, const char *member, const sy_writer *message, const char *hint, sy_value found) {
  if (sy_failed()) return;
  sy_begin_error(code, message, hint);
  size_t outside = sy_path.length;
  if (member && found) sy_enter(member);
  sy_put_ref(&sy_error);
  sy_leave(outside);
  sy_put_key(&sy_error, "details");
  sy_put(&sy_error, "{");
  sy_member_literal(&sy_error, "got", sy_kind(found));
  if (found && sy_end(found) - found <= SY_EXCERPT) sy_member_value(&sy_error, "value", found);
  sy_put(&sy_error, "}}}");
}

/* Refuses the report in the commonest way: the member must be wanted, but it is
   found. */
SY_API void sy_refuse(const char *code, const char *member, const char *wanted, sy_value found) {
  sy_writer *message = sy_sentence("");
  sy_put_writer(message, &sy_path);
  if (member) {
    sy_put(message, "/");
    sy_put(message, member);
  } else if (!sy_path.length) {
    sy_put(message, "the report");
  }
  sy_put(message, " must be ");
  sy_put(message, wanted);
  sy_put(message, ", but it is ");
  sy_put_excerpt(message, found);
  sy_fail(code, member, message, "", found);
}

/* Refuses the configuration at a JSON Pointer: where, and a key unless NULL. */
SY_API void sy_fail_config(const char *where, const sy_members *key, const sy_writer *message, const char *hint) {
  if (sy_failed()) return;
  sy_begin_error("plugin-config-invalid", message, hint);
  sy_put(&sy_error, ",\"details\":{\"config\":\"");
  sy_put(&sy_error, where);
  if (key) sy_put_token(&sy_error, key->name);
  sy_put(&sy_error, "\"}}}");
}

/* Completes the answer. The findings come first because they are there already: an
   answer may be megabytes. */
SY_API const sy_writer *sy_answer(const char *critic) {
  sy_writer *out = &sy_findings;
  if (sy_failed()) return &sy_error;
  sy_put(out, out->length ? "],\"skipped\":[" : "{\"findings\":[],\"skipped\":[");
  sy_put_writer(out, &sy_skipped);
  sy_put(out, "]");
  if (sy_critic) {
    sy_member_value(out, "critic", sy_critic);
  } else {
    sy_member_literal(out, "critic", critic);
  }
  if (sy_task) sy_member_value(out, "task_id", sy_task);
  if (sy_round) sy_member_value(out, "round", sy_round);
  if (sy_unmapped.length) {
    sy_put(out, ",\"unmapped\":[");
    sy_put_writer(out, &sy_unmapped);
    sy_put(out, "]");
  }
  if (sy_statements.length) {
    sy_put(out, ",\"previous\":[");
    sy_put_writer(out, &sy_statements);
    sy_put(out, "]");
  }
  sy_put(out, "}");
  return out;
}

/* --------------------------------------------------------- categories ---- */

/* From names to values: a hash table that is at most half full. */
typedef struct {
  struct sy_slot {
    sy_text name; /* Its address is NULL in a free slot. */
    sy_value value;
  } *slots;
  uint32_t mask, used;
} sy_table;

SY_API struct sy_slot *sy_slot_of(const sy_table *t, sy_text name) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < name.length; i++) hash = (hash ^ name.at[i]) * 16777619u;
  for (;; hash++) {
    struct sy_slot *slot = t->slots + (hash & t->mask);
    if (!slot->name.at || sy_same_text(slot->name, name)) return slot;
  }
}

/* Adds a name, whose text must stay where it is; false if it is there already. */
SY_API bool sy_table_add(sy_table *t, sy_text name, sy_value value) {
  if (!t->slots || t->used * 2 > t->mask) {
    sy_table larger = {.mask = t->slots ? t->mask * 2 + 1 : 15, .used = t->used};
    larger.slots = sy_block((larger.mask + 1) * sizeof *larger.slots);
    for (uint32_t i = 0; t->slots && i <= t->mask; i++) {
      if (t->slots[i].name.at) *sy_slot_of(&larger, t->slots[i].name) = t->slots[i];
    }
    *t = larger;
  }
  struct sy_slot *slot = sy_slot_of(t, name);
  if (slot->name.at) return false;
  *slot = (struct sy_slot){name, value};
  t->used++;
  return true;
}

/* The value of the name that a string value says, or NULL; NULL gives NULL. */
SY_API sy_value sy_table_get(const sy_table *t, sy_value name) {
  return t->slots && sy_is_string(name) ? sy_slot_of(t, sy_read(name))->value : NULL;
}

/* The configuration that all linters' plugins share: which category the findings
   of a rule, a tag or a severity have.

       {"categories": {
         "default": "lint-violation",
         "rules": {"no-unused-vars": "dead-code"},
         "tags": {"security": "silenced-failure"},
         "severities": {"warning": "style"}
       }}

   Ask in the order that users are promised: the rule, then each of the finding's
   tags, then the severity in the tool's own word. */
static sy_table sy_rules, sy_tags, sy_severities, sy_noted;
static const char *sy_usual;
static sy_value sy_default;

SY_API bool sy_unknown_setting(const char *where, const sy_members *setting, const char *plugin) {
  sy_writer *message = sy_sentence(plugin);
  sy_put(message, " has no setting ");
  sy_put_excerpt(message, setting->key);
  sy_fail_config(where, setting, message, "it takes categories: default, rules, tags, severities");
  return false;
}

SY_API bool sy_wrong_setting(const char *where, const sy_members *key, const char *wanted, sy_value found) {
  sy_writer *message = sy_sentence(where);
  if (key) sy_put_token(message, key->name);
  sy_put(message, " must be ");
  sy_put(message, wanted);
  sy_put(message, ", but it is ");
  sy_put_excerpt(message, found);
  sy_fail_config(where, key, message, "");
  return false;
}

SY_API bool sy_read_table(sy_table *table, sy_value names, const char *where) {
  if (names && !sy_is_object(names)) return sy_wrong_setting(where, NULL, "an object", names);
  for (sy_members m = sy_members_of(names); sy_next_member(&m);) {
    if (!sy_is_filled(m.value)) return sy_wrong_setting(where, &m, "a category", m.value);
    sy_table_add(table, m.name, m.value);
  }
  return true;
}

/* Reads the whole configuration. plugin is the plugin's name, for messages, and
   usual the default category. Returns false if the configuration is refused. */
SY_API bool sy_read_categories(sy_value config, const char *plugin, const char *usual) {
  sy_usual = usual;
  sy_value categories = NULL, rules = NULL, tags = NULL, severities = NULL;
  for (sy_members m = sy_members_of(config); sy_next_member(&m);) {
    if (!sy_key_is(&m, "categories")) return sy_unknown_setting("", &m, plugin);
    categories = m.value;
  }
  if (categories && !sy_is_object(categories)) return sy_wrong_setting("/categories", NULL, "an object", categories);
  for (sy_members m = sy_members_of(categories); sy_next_member(&m);) {
    if (sy_key_is(&m, "rules")) {
      rules = m.value;
    } else if (sy_key_is(&m, "tags")) {
      tags = m.value;
    } else if (sy_key_is(&m, "severities")) {
      severities = m.value;
    } else if (sy_key_is(&m, "default")) {
      sy_default = m.value;
      if (!sy_is_filled(m.value)) return sy_wrong_setting("/categories/default", NULL, "a category", m.value);
    } else {
      return sy_unknown_setting("/categories", &m, plugin);
    }
  }
  return sy_read_table(&sy_rules, rules, "/categories/rules") && sy_read_table(&sy_tags, tags, "/categories/tags") &&
         sy_read_table(&sy_severities, severities, "/categories/severities");
}

/* The category that the configuration gives; NULL if none. NULL gives NULL. */
SY_API sy_value sy_category_of_rule(sy_value rule) { return sy_table_get(&sy_rules, rule); }
SY_API sy_value sy_category_of_tag(sy_value tag) { return sy_table_get(&sy_tags, tag); }
SY_API sy_value sy_category_of_severity(sy_value severity) { return sy_table_get(&sy_severities, severity); }

SY_API void sy_put_default(sy_writer *w) {
  if (sy_default) {
    sy_member_value(w, "category", sy_default);
  } else {
    sy_member_literal(w, "category", sy_usual);
  }
}

/* Writes the category of a finding: mapped or, where that is NULL, the default. A
   finding that only has the default says so: its rule, a string value or NULL,
   joins the answer's unmapped rules, once. */
SY_API void sy_put_category(sy_writer *finding, sy_value mapped, sy_value rule) {
  if (mapped) {
    sy_member_value(finding, "category", mapped);
    return;
  }
  sy_put_default(finding);
  if (!sy_is_filled(rule)) return;
  sy_text name = sy_read(rule);
  if (sy_noted.slots && sy_slot_of(&sy_noted, name)->name.at) return;
  /* The plugin may have put the rule together where it puts the next one, too. */
  unsigned char *kept = sy_block(name.length);
  __builtin_memcpy(kept, name.at, name.length);
  sy_table_add(&sy_noted, (sy_text){kept, name.length}, rule);
  sy_put(&sy_unmapped, sy_unmapped.length ? ",{" : "{");
  sy_member_value(&sy_unmapped, "rule", rule);
  sy_put_default(&sy_unmapped);
  sy_put(&sy_unmapped, "}");
}

/* ------------------------------------------------------------ exports ---- */

SY_API uint64_t sy_packed(const void *at, size_t length) { return (uint64_t)(uintptr_t)at << 32 | length; }

/* Says what the plugin is: one JSON object, written as it is. */
#define SY_DESCRIBE(...)                                \
  SY_EXPORT("sy_describe") uint64_t sy_describe(void) { \
    static const char description[] = #__VA_ARGS__;     \
    return sy_packed(description, sizeof description - 1); \
  }

/* Says which function normalizes, void (sy_value report, sy_value config), and
   which critic speaks where the report names none. */
#define SY_NORMALIZE(function, critic)                                                                        \
  SY_EXPORT("switchyard_abi_v1") void switchyard_abi_v1(void) {}                                              \
  SY_EXPORT("sy_alloc") void *sy_alloc(size_t size) { return sy_try_block(size); }                            \
  SY_EXPORT("sy_normalize") uint64_t sy_normalize(sy_value report, size_t report_length, sy_value config,     \
                                                  size_t config_length) {                                     \
    (void)report_length, (void)config_length;                                                                 \
    function(sy_blank(report), sy_blank(config));                                                             \
    const sy_writer *answer = sy_answer(critic);                                                              \
    return sy_packed(answer->start, answer->length);                                                          \
  }

#endif
