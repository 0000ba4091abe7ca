"""The section `[corrections]` of the settings."""

from pydantic import BaseModel, ConfigDict, Field

from studio.domain.money import STAKE_MINOR_MAX
from studio.services.proposing import CorrectionPolicy


class CorrectionSettings(BaseModel):
    """When players are told of a correction, and when a second person has to agree."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    notice_s: int = Field(default=10, ge=1, le=3600)
    """Seconds from telling the players to moving their money."""
    approval_minor: int = Field(default=0, ge=0, le=STAKE_MINOR_MAX)
    """A correction that pays and takes more than this needs a second supervisor."""
    void_approval_minor: int = Field(default=10_000_000, ge=0, le=STAKE_MINOR_MAX)
    """The void of a running round that holds more than this needs a second supervisor."""

    @property
    def policy(self) -> CorrectionPolicy:
        """The rules as the use cases read them."""
        return CorrectionPolicy(
            notice_ms=self.notice_s * 1000,
            approval_minor=self.approval_minor,
            void_approval_minor=self.void_approval_minor,
        )
