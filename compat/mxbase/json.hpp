/* json.hpp - JSON values of configurations: parsed, changed, and written without blanks. */
#ifndef MXBASE_JSON_HPP
#define MXBASE_JSON_HPP

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace mxface {

class Json {
public:
    enum Kind { NONE, TEXT, WORD, ARRAY, OBJECT }; /* WORD: a number, true or false, as it was written */

    /* False for what is not JSON, or nested more than 100 deep; *out is then as it was. */
    static bool Parse(Json *out, const std::string &text);

    std::string Dump() const; /* members by name */

    Kind kind = NONE;
    std::string text; /* of TEXT and WORD */
    std::vector<Json> elements;
    std::map<std::string, Json> members;
};

} // namespace mxface

#endif
