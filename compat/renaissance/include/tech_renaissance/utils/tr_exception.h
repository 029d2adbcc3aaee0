/* tr_exception.h - what everything in the face throws. */
#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

/* what() is "TYPE: message", and "TYPE: message (File: F, Line: N)" where the place is known. */
class TR_EXPORT TRException : public std::exception {
public:
    explicit TRException(const std::string &message, const std::string &file = "", int line = 0);
    TRException(const TRException &) = default;
    TRException &operator=(const TRException &) = default;
    ~TRException() noexcept override;

    const char *what() const noexcept override;
    const std::string &file() const noexcept { return file_; }
    int line() const noexcept { return line_; }
    virtual const char *type() const noexcept;

protected:
    std::string message_;
    std::string file_;
    int line_;
    mutable std::string what_; /* made when it is first asked for, as type() is virtual */

    void build_what() const;
};

class TR_EXPORT FileNotFoundError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT NotImplementedError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT ZeroDivisionError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT TypeError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT ValueError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT IndexError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

class TR_EXPORT ShapeError : public TRException {
public:
    using TRException::TRException;
    const char *type() const noexcept override;
};

} // namespace tr

#define TR_THROW(message) throw tr::TRException(message, __FILE__, __LINE__)

#define TR_THROW_IF(condition, message)      \
    do {                                     \
        if (condition) { TR_THROW(message); } \
    } while (0)

#define TR_THROW_TYPE(ExceptionType, message) throw tr::ExceptionType(message, __FILE__, __LINE__)

#define TR_THROW_NOT_IMPLEMENTED(msg) TR_THROW_TYPE(NotImplementedError, msg)
#define TR_THROW_FILE_NOT_FOUND(msg)  TR_THROW_TYPE(FileNotFoundError, msg)
#define TR_THROW_VALUE_ERROR(msg)     TR_THROW_TYPE(ValueError, msg)
#define TR_THROW_INDEX_ERROR(msg)     TR_THROW_TYPE(IndexError, msg)
#define TR_THROW_TYPE_ERROR(msg)      TR_THROW_TYPE(TypeError, msg)
#define TR_THROW_ZERO_DIVISION(msg)   TR_THROW_TYPE(ZeroDivisionError, msg)
#define TR_THROW_SHAPE_ERROR(msg)     TR_THROW_TYPE(ShapeError, msg)
