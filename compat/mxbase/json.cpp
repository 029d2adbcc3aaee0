/* json.cpp - a parser that goes down the grammar of RFC 8259, and the writer. */
#include "json.hpp"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace mxface {

namespace {

const int DEEPEST = 100;

class Parser {
public:
    explicit Parser(const std::string &text) : at_(text.data()), end_(at_ + text.size()) {}

    bool ReadAll(Json &out)
    {
        if (!ReadValue(out, 0)) return false;
        SkipBlanks();
        return at_ == end_;
    }

private:
    char Peek() const { return at_ < end_ ? *at_ : '\0'; }

    bool Take(char c)
    {
        if (at_ == end_ || *at_ != c) return false;
        at_++;
        return true;
    }

    void SkipBlanks()
    {
        while (at_ < end_ && std::memchr(" \t\r\n", *at_, 4)) at_++;
    }

    bool TakeNext(char c)
    {
        SkipBlanks();
        return Take(c);
    }

    bool ReadValue(Json &out, int depth)
    {
        if (depth > DEEPEST) return false;
        SkipBlanks();
        switch (Peek()) {
        case '{': return ReadObject(out, depth);
        case '[': return ReadArray(out, depth);
        case '"': out.kind = Json::TEXT; return ReadText(out.text);
        case 't': return ReadWord(out, Json::WORD, "true");
        case 'f': return ReadWord(out, Json::WORD, "false");
        case 'n': return ReadWord(out, Json::NONE, "null");
        default: return ReadNumber(out);
        }
    }

    bool ReadWord(Json &out, Json::Kind kind, const char *word)
    {
        const size_t length = std::strlen(word);
        if (static_cast<size_t>(end_ - at_) < length || std::memcmp(at_, word, length) != 0) return false;
        at_ += length;
        out.kind = kind;
        if (kind == Json::WORD) out.text = word;
        return true;
    }

    bool SkipDigits()
    {
        const char *begin = at_;
        while (std::isdigit(static_cast<unsigned char>(Peek()))) at_++;
        return at_ > begin;
    }

    bool ReadNumber(Json &out)
    {
        const char *begin = at_;
        Take('-');
        if (!Take('0') && !SkipDigits()) return false;
        if (Take('.') && !SkipDigits()) return false;
        if (Take('e') || Take('E')) {
            if (!Take('+')) Take('-');
            if (!SkipDigits()) return false;
        }
        out.kind = Json::WORD;
        out.text.assign(begin, at_);
        return true;
    }

    bool ReadArray(Json &out, int depth)
    {
        out.kind = Json::ARRAY;
        Take('[');
        if (TakeNext(']')) return true;
        do {
            out.elements.emplace_back();
            if (!ReadValue(out.elements.back(), depth + 1)) return false;
        } while (TakeNext(','));
        return Take(']');
    }

    bool ReadObject(Json &out, int depth)
    {
        out.kind = Json::OBJECT;
        Take('{');
        if (TakeNext('}')) return true;
        do {
            std::string name;
            SkipBlanks();
            if (!ReadText(name) || !TakeNext(':')) return false;
            Json value; /* of two members of one name, the last counts */
            if (!ReadValue(value, depth + 1)) return false;
            out.members[name] = value;
        } while (TakeNext(','));
        return Take('}');
    }

    bool ReadText(std::string &out)
    {
        if (!Take('"')) return false;
        while (at_ < end_ && *at_ != '"') {
            if (static_cast<unsigned char>(*at_) < ' ') return false;
            if (Take('\\')) {
                if (!ReadEscape(out)) return false;
            } else {
                out += *at_++;
            }
        }
        return Take('"');
    }

    bool ReadEscape(std::string &out)
    {
        static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        if (at_ == end_) return false;
        const char c = *at_++;
        if (c == 'u') return ReadCodePoint(out);
        const char *found = c ? std::strchr(names, c) : nullptr;
        if (found) out += meant[found - names];
        return found != nullptr;
    }

    bool ReadHex(uint32_t &out)
    {
        out = 0;
        for (int i = 0; i < 4; i++) {
            const char c = Peek();
            if (!std::isxdigit(static_cast<unsigned char>(c))) return false;
            out = out * 16 + (std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | ' ') - 'a' + 10);
            at_++;
        }
        return true;
    }

    bool ReadCodePoint(std::string &out)
    {
        uint32_t code, low;
        if (!ReadHex(code)) return false;
        if (code >= 0xd800 && code < 0xdc00) {
            if (!Take('\\') || !Take('u') || !ReadHex(low) || low < 0xdc00 || low > 0xdfff) return false;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else if (code >= 0xdc00 && code < 0xe000) {
            return false;
        }
        AppendUtf8(out, code);
        return true;
    }

    static void AppendUtf8(std::string &out, uint32_t code)
    {
        const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
        out += static_cast<char>(first[more] | code >> 6 * more);
        for (int i = more; i-- > 0;) out += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
    }

    const char *at_;
    const char *end_;
};

void append_text(std::string &out, const std::string &text)
{
    static const char names[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
    out += '"';
    for (const char c : text) {
        const char *found = c ? std::strchr(meant, c) : nullptr;
        char code[8];
        if (found) {
            out += '\\';
            out += names[found - meant];
        } else if (static_cast<unsigned char>(c) < ' ') {
            std::snprintf(code, sizeof code, "\\u%04x", c);
            out += code;
        } else {
            out += c;
        }
    }
    out += '"';
}

void append_value(std::string &out, const Json &value)
{
    const char *comma = "";
    switch (value.kind) {
    case Json::NONE: out += "null"; break;
    case Json::WORD: out += value.text; break;
    case Json::TEXT: append_text(out, value.text); break;
    case Json::ARRAY:
        out += '[';
        for (const Json &element : value.elements) {
            out += comma;
            append_value(out, element);
            comma = ",";
        }
        out += ']';
        break;
    case Json::OBJECT:
        out += '{';
        for (const auto &member : value.members) {
            out += comma;
            append_text(out, member.first);
            out += ':';
            append_value(out, member.second);
            comma = ",";
        }
        out += '}';
        break;
    }
}

} // namespace

bool Json::Parse(Json *out, const std::string &text)
{
    Json value;
    if (!Parser(text).ReadAll(value)) return false;
    *out = value;
    return true;
}

std::string Json::Dump() const
{
    std::string out;
    append_value(out, *this);
    return out;
}

} // namespace mxface
